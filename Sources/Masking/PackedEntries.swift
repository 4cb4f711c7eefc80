import Content
import NIOCore

/// The entries of a ZIP file that are packed by deflate (APPNOTE.TXT 4.3). Each is found by its local header, as the file may
/// be cut off.
struct PackedEntries {
    /// What a local header begins with.
    static let sign: [UInt8] = [0x50, 0x4B, 0x03, 0x04]

    private let archive: ByteBuffer
    private var place = 0

    init(_ archive: ByteBuffer) { self.archive = archive }

    /// The bytes of the next entry as they are in the file, with all that follows; `nil` where there is no other.
    mutating func next() -> ByteBuffer? {
        while let header = nextHeader() {
            // Compression method 8 is deflate; names and extra fields stand before the data.
            guard number(header + 8) == 8 else { continue }
            let data = header + 30 + number(header + 26) + number(header + 28)
            if data < archive.readableBytes,
                let packed = archive.getSlice(at: data, length: archive.readableBytes - data)
            {
                return packed
            }
        }
        return nil
    }

    private mutating func nextHeader() -> Int? {
        archive.withUnsafeReadableBytes { bytes in
            while let start = bytes[place...].firstIndex(of: PackedEntries.sign[0]) {
                place = start + 1
                if bytes.count - start > 30, bytes[start...].starts(with: PackedEntries.sign) { return start }
            }
            return nil
        }
    }

    /// Two bytes as a number, the lower one first.
    private func number(_ place: Int) -> Int {
        archive.getInteger(at: place, endianness: .little, as: UInt16.self).map { Int($0) } ?? 0
    }
}
