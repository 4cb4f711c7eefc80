import Content
import HTTPModel
import NIOCore

/// A body in which something is compressed that no content coding tells of: a file of gzip, zstd or ZIP, or messages
/// of gRPC. It cannot be masked in part, so it is looked through before any of it is written.
final class PackedBody {
    enum Packing {
        case coding(ContentCoding)
        /// The ZIP format (APPNOTE.TXT 4.3).
        case zip
        case messages(GRPCFraming, encoding: String)
    }

    /// What stands for a body that is masked whole.
    static let replacement = Array("sluice: this body holds secrets in compressed data, and is masked whole".utf8)
    /// More is not unpacked, against decompression bombs.
    private static let unpackedLimit = 64 << 20
    private static let longestMessage = 4 << 20
    /// Of a ZIP file so much is read.
    private static let zipLimit = 32 << 20

    private let packing: Packing
    private let mask: TextMask
    private let unpacked: BodyMask
    private let decoder: ContentDecoder
    private var frames: GRPCFrameReader?
    private var archive: [UInt8] = []
    private var found = 0

    /// Whether secrets were found that are to be replaced.
    var holdsSecrets: Bool { found + unpacked.count > 0 }

    static func packing(of beginning: UnsafeRawBufferPointer, _ fields: FieldSection) -> Packing? {
        let type = fields.value(of: .contentType).flatMap { MediaType($0) }
        if let framing = type.flatMap({ GRPCFraming($0) }) {
            let encoding = fields.value(of: "grpc-encoding") ?? "identity"
            return encoding == "identity" ? nil : .messages(framing, encoding: encoding)
        }
        if beginning.starts(with: [0x1F, 0x8B, 0x08]) { return .coding(.gzip) }
        if beginning.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .coding(.zstd) }
        return beginning.starts(with: PackedBody.entrySign) ? .zip : nil
    }

    private static let entrySign: [UInt8] = [0x50, 0x4B, 0x03, 0x04]

    init(_ packing: Packing, _ mask: TextMask) {
        (self.packing, self.mask) = (packing, mask)
        unpacked = BodyMask(mask, nil)
        switch packing {
        case .coding(let coding): decoder = ContentDecoder(codings: [coding], limit: PackedBody.unpackedLimit)
        case .zip: decoder = ContentDecoder(codings: [], limit: 0)
        case .messages(let framing, _):
            decoder = ContentDecoder(codings: [], limit: 0)
            frames = GRPCFrameReader(framing, payloadLimit: PackedBody.longestMessage)
        }
    }

    func add(_ piece: UnsafeRawBufferPointer) {
        switch packing {
        case .coding:
            decoder.decode(ByteBuffer(bytes: piece)) { unpacked.add($0, isLast: false) { _ in } }
        case .zip: archive += piece.prefix(max(0, PackedBody.zipLimit - archive.count))
        case .messages(_, let encoding):
            frames?.read(ByteBuffer(bytes: piece)) { frame in
                guard frame.isCompressed else { return }
                look(frame.content(encoding: encoding, limit: PackedBody.longestMessage).bytes)
            }
        }
    }

    func finish() {
        if case .zip = packing { entries() }
        decoder.finish()
        unpacked.add(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { _ in }
    }

    /// Unpacks the entries of a ZIP file; each is found by its local header, as the file may be cut off.
    private func entries() {
        var left = PackedBody.unpackedLimit
        var place = 0
        while left > 0, let start = archive[place...].firstIndex(of: PackedBody.entrySign[0]) {
            place = start + 1
            guard archive.count - start > 30, archive[start...].starts(with: PackedBody.entrySign) else { continue }
            // Compression method 8 is deflate; names and extra fields stand before the data.
            guard archive[start + 8] == 8, archive[start + 9] == 0 else { continue }
            let names = Int(archive[start + 26]) | Int(archive[start + 27]) << 8
            let extras = Int(archive[start + 28]) | Int(archive[start + 29]) << 8
            let data = start + 30 + names + extras
            guard data < archive.count else { continue }
            let content = ContentDecoder.decode(ByteBuffer(bytes: archive[data...]), codings: [.deflate], limit: left)
            left -= content.bytes.readableBytes + 1
            let entry = BodyMask(mask, nil)
            content.bytes.withUnsafeReadableBytes { entry.add($0, isLast: true) { _ in } }
            found += entry.count
        }
    }

    private func look(_ message: ByteBuffer) {
        found += message.withUnsafeReadableBytes { mask.marks(in: $0, nil).count }
    }
}
