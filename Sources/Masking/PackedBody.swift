import Content
import HTTPModel
import NIOCore

/// A body in which something is compressed that no content coding tells of: a file of gzip, zlib, zstd or ZIP, such a
/// file as a part of a form, or messages of gRPC. It cannot be masked in part, so it is looked through before any of it is written.
final class PackedBody {
    enum Packing {
        case coding(ContentCoding)
        /// The ZIP format (APPNOTE.TXT 4.3).
        case zip
        case messages(GRPCFraming, encoding: String)
        /// A form of which a part may be compressed, as an uploaded file is.
        case parts
    }

    /// Why a body is masked whole, and what stands for it.
    enum Replacement: String {
        case holdsSecrets = "sluice: this body holds secrets in compressed data, and is masked whole"
        case isTooLong = "sluice: this body has compressed data too long to look through, and is masked whole"

        /// What stands for a message of a stream.
        var ofMessage: String { rawValue.replacing("this body", with: "this message") }
    }

    /// More is not unpacked, against decompression bombs.
    static let unpackedLimit = 64 << 20
    /// An entry of a ZIP file counts as at least so many unpacked bytes, against files of empty entries.
    static let leastEntry = 4 << 10
    private static let longestMessage = 4 << 20
    /// Of a ZIP file or a form so much is read.
    private static let zipLimit = 32 << 20

    private let packing: Packing
    private let mask: TextMask
    private let unpackedLimit: Int
    private let unpacked: BodyMask
    private let decoder: ContentDecoder
    private var frames: GRPCFrameReader?
    private let readLimit: Int
    private var archive = ByteBuffer()
    /// The last bytes of a form that is longer, which may begin a packed part with those after them.
    private var passed: [UInt8] = []
    private var isLonger = false
    private var found = 0
    /// How many bytes were unpacked.
    private var unpackedCount = 0
    private var isCut = false

    /// What is to stand for the body; `nil` where it may stay.
    var replacement: Replacement? { found + unpacked.count > 0 ? .holdsSecrets : isCut ? .isTooLong : nil }

    static func packing(
        of beginning: UnsafeRawBufferPointer,
        _ type: MediaType?,
        _ fields: FieldSection
    ) -> Packing? {
        if let framing = type.flatMap({ GRPCFraming($0) }) {
            let encoding = fields.value(of: "grpc-encoding") ?? "identity"
            return encoding == "identity" ? nil : .messages(framing, encoding: encoding)
        }
        if beginning.starts(with: [0x1F, 0x8B, 0x08]) { return .coding(.gzip) }
        if beginning.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .coding(.zstd) }
        if type?.type == "multipart" { return .parts }
        // The header of zlib is a multiple of 31 (RFC 1950 §2.2).
        if beginning.count > 2, beginning[0] == 0x78, (0x7800 + Int(beginning[1])) % 31 == 0 {
            return .coding(.deflate)
        }
        return beginning.starts(with: PackedEntries.sign) ? .zip : nil
    }

    init(
        _ packing: Packing,
        _ mask: TextMask,
        unpackedLimit: Int = PackedBody.unpackedLimit,
        readLimit: Int = PackedBody.zipLimit
    ) {
        (self.packing, self.mask, self.unpackedLimit, self.readLimit) = (packing, mask, unpackedLimit, readLimit)
        unpacked = BodyMask(mask, nil)
        switch packing {
        case .coding(let coding): decoder = ContentDecoder(codings: [coding], limit: unpackedLimit)
        case .zip, .parts: decoder = ContentDecoder(codings: [], limit: 0)
        case .messages(let framing, _):
            decoder = ContentDecoder(codings: [], limit: 0)
            frames = GRPCFrameReader(framing, payloadLimit: PackedBody.longestMessage)
        }
    }

    /// What is to stand for bytes that are there whole; `nil` where they may stay.
    static func replacement(
        of bytes: UnsafeRawBufferPointer,
        _ packing: Packing,
        _ mask: TextMask,
        unpackedLimit: Int = PackedBody.unpackedLimit
    ) -> Replacement? {
        let packed = PackedBody(packing, mask, unpackedLimit: unpackedLimit)
        packed.add(bytes)
        packed.finish()
        return packed.replacement
    }

    func add(_ piece: UnsafeRawBufferPointer) {
        switch packing {
        case .coding:
            decoder.decode(ByteBuffer(bytes: piece)) { part in
                unpackedCount += part.count
                unpacked.add(part, isLast: false) { _ in }
            }
        case .zip, .parts:
            let room = max(0, readLimit - archive.readableBytes)
            archive.writeBytes(piece.prefix(room))
            guard piece.count > room else { break }
            isLonger = true
            if case .zip = packing { isCut = true } else { pass(piece.dropFirst(room)) }
        case .messages(_, let encoding):
            frames?.read(ByteBuffer(bytes: piece)) { frame in
                guard frame.isCompressed else { return }
                let content = frame.content(encoding: encoding, limit: PackedBody.longestMessage)
                if frame.leftOut > 0 || content.stoppedAtLimit { isCut = true }
                found += content.bytes.withUnsafeReadableBytes { mask.marks(in: $0, nil).count }
            }
        }
    }

    func finish() {
        switch packing {
        case .zip: entries()
        case .parts: parts()
        case .coding, .messages: break
        }
        decoder.finish()
        if decoder.problem?.kind == .stoppedAtLimit, case .coding = packing { isCut = true }
        unpacked.add(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { _ in }
    }

    /// Looks through what is compressed and is a part's content (RFC 2046 §5.1), up to the next delimiter.
    private func parts() {
        let (blank, delimiter) = (Array("\r\n\r\n".utf8), Array("\r\n--".utf8))
        archive.withUnsafeReadableBytes { bytes in
            var start: Int?
            var place = 0
            while let lineEnd = bytes[place...].firstIndex(of: 0x0D) {
                place = lineEnd + 1
                if let begun = start, bytes[lineEnd...].starts(with: delimiter) {
                    part(UnsafeRawBufferPointer(rebasing: bytes[begun..<lineEnd]))
                    start = nil
                } else if start == nil, bytes[lineEnd...].starts(with: blank) {
                    (start, place) = (lineEnd + 4, lineEnd + 4)
                }
            }
            guard let start else { return }
            let last = UnsafeRawBufferPointer(rebasing: bytes[start...])
            if isLonger, PackedBody.packing(of: last, nil, FieldSection()) != nil { isCut = true } else { part(last) }
        }
    }

    /// Looks in what is beyond the limit of a form for the beginning of a packed part.
    private func pass(_ rest: Slice<UnsafeRawBufferPointer>) {
        if passed.isEmpty { passed = Array(archive.readableBytesView.suffix(7)) }
        let bytes = passed + rest
        let blank = Array("\r\n\r\n".utf8)
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while !isCut, let lineEnd = bytes[place...].firstIndex(of: 0x0D) {
                place = lineEnd + 1
                guard bytes[lineEnd...].starts(with: blank) else { continue }
                let content = UnsafeRawBufferPointer(rebasing: bytes[(lineEnd + 4)...])
                if PackedBody.packing(of: content, nil, FieldSection()) != nil { isCut = true }
            }
        }
        passed = Array(bytes.suffix(7))
    }

    private func part(_ content: UnsafeRawBufferPointer) {
        guard let packing = PackedBody.packing(of: content, nil, FieldSection()) else { return }
        guard unpackedCount < unpackedLimit else {
            isCut = true
            return
        }
        let part = PackedBody(packing, mask, unpackedLimit: unpackedLimit - unpackedCount)
        part.add(content)
        part.finish()
        unpackedCount += max(PackedBody.leastEntry, part.unpackedCount)
        found += part.found + part.unpacked.count
        if part.isCut { isCut = true }
    }

    private func entries() {
        var entries = PackedEntries(archive)
        while let packed = entries.next() {
            guard unpackedCount < unpackedLimit else {
                isCut = true
                return
            }
            let content = ContentDecoder.decode(packed, codings: [.deflate], limit: unpackedLimit - unpackedCount)
            if content.stoppedAtLimit { isCut = true }
            unpackedCount += max(PackedBody.leastEntry, content.bytes.readableBytes)
            let entry = BodyMask(mask, nil)
            content.bytes.withUnsafeReadableBytes { entry.add($0, isLast: true) { _ in } }
            found += entry.count
        }
    }
}
