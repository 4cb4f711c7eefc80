import Content
import NIOCore
import Support

/// Small images of each format, for the fuzzer's corpus and for the tests.
enum ImageSeeds {
    /// An image, and the places of its width and height where they are numbers of whole bytes.
    struct Seed {
        var name: String
        var bytes: [UInt8]
        var places: (width: Int, height: Int)
        var length: Int
        var isBig = true
    }

    static let all: [Seed] = [
        Seed(name: "PNG", bytes: png(width: 3, height: 2, depth: 8, type: 2), places: (16, 20), length: 4),
        Seed(name: "PNG of bits", bytes: png(width: 9, height: 4, depth: 1, type: 3), places: (16, 20), length: 4),
        Seed(name: "PNG of words", bytes: png(width: 2, height: 2, depth: 16, type: 6), places: (16, 20), length: 4),
        Seed(name: "GIF", bytes: Array("GIF89a".utf8) + [3, 0, 2, 0], places: (6, 8), length: 2, isBig: false),
        Seed(
            name: "BMP",
            bytes: Array("BM".utf8) + zeros(12) + [40, 0, 0, 0] + [3, 0, 0, 0, 2, 0, 0, 0] + [1, 0, 24, 0],
            places: (18, 22),
            length: 4,
            isBig: false
        ),
        Seed(
            name: "old BMP",
            bytes: Array("BM".utf8) + zeros(12) + [12, 0, 0, 0, 3, 0, 2, 0],
            places: (18, 20),
            length: 2,
            isBig: false
        ),
        Seed(name: "icon", bytes: [0, 0, 1, 0, 1, 0, 16, 32] + zeros(14), places: (6, 7), length: 1),
        Seed(
            name: "AVIF",
            bytes: [0, 0, 0, 16] + Array("ftypavif".utf8) + zeros(4) + [0, 0, 0, 20] + Array("ispe".utf8) + zeros(4)
                + [0, 0, 0, 3, 0, 0, 0, 2],
            places: (28, 32),
            length: 4
        ),
        Seed(
            name: "WebP",
            bytes: Array("RIFF".utf8) + [22, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0] + zeros(4)
                + [2, 0, 0, 1, 0, 0],
            places: (24, 27),
            length: 3,
            isBig: false
        ),
        Seed(
            name: "lossless WebP",
            bytes: Array("RIFF".utf8) + [38, 0, 0, 0] + Array("WEBPVP8L".utf8) + [
                0x19, 0, 0, 0, 0x2F, 0x1F, 0xC0, 0x03,
            ]
                + [0x10, 0x0F, 0x10, 0xF3, 0xBF, 0xFF, 0xF3, 0x1F, 0x2A, 0x04, 0x02, 0x49, 0xFE, 0xD2, 0x03, 0x2C]
                + [0x10, 0xD1, 0xFF, 0x28, 0x5E, 0],
            places: (21, 22),
            length: 2,
            isBig: false
        ),
        Seed(
            name: "JPEG",
            bytes: [0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 0, 2, 0, 3, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xFF, 0xD9],
            places: (9, 7),
            length: 2
        ),
    ]

    static var inputs: [[UInt8]] {
        all.flatMap { seed in [FuzzInput.made(seed.bytes), FuzzInput.made(seed.bytes, [1, 0, 16, 5, 9, 0])] }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// A PNG whose rows are filtered in each way.
    static func png(width: Int, height: Int, depth: Int, type: UInt8) -> [UInt8] {
        let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][Int(type)] ?? 1
        let length = (width * channels * depth + 7) / 8
        let rows = (0..<height).flatMap { row in
            [UInt8(row % 5)] + (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        }
        let packed = try? ContentEncoder.encode(ByteBuffer(bytes: rows), coding: .deflate)
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes += chunk("IHDR", big(width) + big(height) + [UInt8(depth), type, 0, 0, 0])
        if type == 3 { bytes += chunk("PLTE", [255, 0, 0, 0, 0, 255]) + chunk("tRNS", [128]) }
        return bytes + chunk("IDAT", packed.map { Array($0.readableBytesView) } ?? []) + chunk("IEND", [])
    }

    private static func big(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// A chunk with a checksum that nobody looks at.
    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count) + Array(type.utf8) + content + [0, 0, 0, 0]
    }
}
