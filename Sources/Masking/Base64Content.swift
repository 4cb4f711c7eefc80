import Content
import HTTPModel
import NIOCore
import Text

/// What stands in a text in base64.
struct Base64Content {
    /// What is compressed is unpacked up to so many times its size, against decompression bombs.
    static let mostGrowth = 64

    /// The bytes; text in UTF-16 is in UTF-8.
    let bytes: [UInt8]
    let isText: Bool

    /// `nil` for what is no base64.
    init?(_ digits: some Sequence<UInt8>) {
        guard let decoded = Base64Text.decode(digits) else { return nil }
        if let narrow = Base64Content.narrowed(decoded) {
            (bytes, isText) = (narrow, true)
            return
        }
        (bytes, isText) = (decoded, Base64Content.isText(decoded))
    }

    /// Text in UTF-16 as UTF-8; `nil` for what is none. Without a mark it is told by its ASCII, of which each character has a
    /// zero on one side.
    private static func narrowed(_ decoded: [UInt8]) -> [UInt8]? {
        guard decoded.count >= 4 else { return nil }
        let isBigEndian: Bool
        var start = 2
        switch (decoded[0], decoded[1]) {
        case (0xFF, 0xFE): isBigEndian = false
        case (0xFE, 0xFF): isBigEndian = true
        default:
            start = 0
            let beginning = decoded.prefix(512)
            var zeros = (even: 0, odd: 0)
            for (place, byte) in beginning.enumerated() where byte == 0 {
                if place.isMultiple(of: 2) { zeros.even += 1 } else { zeros.odd += 1 }
            }
            guard min(zeros.even, zeros.odd) == 0, max(zeros.even, zeros.odd) * 16 >= beginning.count else {
                return nil
            }
            isBigEndian = zeros.odd == 0
        }
        var wide = WideText(isBigEndian: isBigEndian)
        let narrow = decoded.withUnsafeBytes { wide.narrowed(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        let controls = narrow.prefix(256).count { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) || $0 == 0x7F }
        return controls * 10 <= min(256, narrow.count) ? narrow : nil
    }

    private static func plain(_ bytes: ByteBuffer) -> [UInt8] {
        let bytes = Array(bytes.readableBytesView)
        return narrowed(bytes) ?? bytes
    }

    /// Whether bytes begin as text: in ASCII nearly all of it, or in UTF-8 with hardly a control.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        let beginning = bytes.prefix(256)
        let controls = beginning.count { $0 < 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 || $0 == 0x7F }
        let others = beginning.count { $0 >= 0x80 }
        if (controls + others) * 10 <= beginning.count { return true }
        guard controls * 10 <= beginning.count else { return false }
        var check = UTF8Check()
        beginning.withUnsafeBytes { check.feed($0) }
        return bytes.count > beginning.count ? check.isValidSoFar : check.isValid
    }

    /// What the bytes unpack to, of a ZIP file all its entries, text in UTF-16 as UTF-8; `nil` where they are not compressed.
    var unpacked: [UInt8]? {
        guard !isText else { return nil }
        let packing = bytes.withUnsafeBytes { PackedBody.packing(of: $0, nil, FieldSection()) }
        let limit = bytes.count * Base64Content.mostGrowth
        switch packing {
        case .coding(let coding)?:
            let content = ContentDecoder.decode(ByteBuffer(bytes: bytes), codings: [coding], limit: limit)
            return Base64Content.plain(content.bytes)
        case .zip?:
            var entries = PackedEntries(ByteBuffer(bytes: bytes))
            var (unpacked, count): ([UInt8], Int) = ([], 0)
            while count < limit, let packed = entries.next() {
                let content = ContentDecoder.decode(packed, codings: [.deflate], limit: limit - count)
                unpacked += Base64Content.plain(content.bytes)
                unpacked.append(UInt8(ascii: "\n"))
                count += max(PackedBody.leastEntry, content.bytes.readableBytes)
            }
            return unpacked
        case .messages?, .parts?, nil: return nil
        }
    }
}
