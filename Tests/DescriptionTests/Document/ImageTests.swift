import Content
import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Description

struct ImageTests {
    /// A PNG of 2 × 2 pixels: red, green, blue, white; stored without compression.
    static let fourColours: [UInt8] = {
        let rows: [UInt8] = [0, 255, 0, 0, 0, 255, 0, 0, 0, 0, 255, 255, 255, 255]
        return png(width: 2, height: 2, type: 2, rows: rows)
    }()

    static func png(width: UInt8, height: UInt8, type: UInt8, rows: [UInt8]) -> [UInt8] {
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            [0, 0, UInt8(content.count >> 8), UInt8(content.count & 255)] + Array(name.utf8) + content + [0, 0, 0, 0]
        }
        let length = [UInt8(rows.count & 255), UInt8(rows.count >> 8)]
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in rows {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        let sum = [UInt8(high >> 8), UInt8(high & 255), UInt8(low >> 8), UInt8(low & 255)]
        let stored: [UInt8] = [0x78, 0x01, 1] + length + length.map { ~$0 } + rows + sum
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", [0, 0, 0, width, 0, 0, 0, height, 8, type, 0, 0, 0]) + chunk("IDAT", stored)
            + chunk("IEND", [])
    }

    @Test func `a PNG image has its size and a preview in half blocks`() {
        let source = BodySource()
        source.set(.responseReceived, ImageTests.fourColours)
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        let document = Example.document(.response, exchange, source)
        #expect(document.lines.contains { $0.plain == "  PNG image, 2 × 2 pixels, 8 bits, RGB" })
        #expect(
            document.lines.last?.spans == [
                Span("▀", .image, pixels: [196, 21]), Span("▀", .image, pixels: [46, 231]),
            ]
        )
        let plain = Example.document(.response, exchange, source) { $0.showsPreview = false }
        #expect(!plain.lines.contains { $0.plain.contains("▀") })
    }

    @Test func `filters, alpha and palettes are undone`() throws {
        let filtered: [UInt8] = [1, 10, 20, 30, 1, 1, 1, 2, 5, 5, 5, 5, 5, 5]
        let image = try Thumbnail(
            ByteBuffer(bytes: ImageTests.png(width: 2, height: 2, type: 2, rows: filtered)),
            .png,
            maximumWidth: 10,
            maximumHeight: 10
        )
        #expect(image.pixels.map(\.red) == [10, 11, 15, 16])
        #expect(image.pixels.map(\.blue) == [30, 31, 35, 36])
        let clear = try Thumbnail(
            ByteBuffer(bytes: ImageTests.png(width: 1, height: 1, type: 6, rows: [0, 200, 200, 200, 0])),
            .png,
            maximumWidth: 10,
            maximumHeight: 10
        )
        #expect(clear.pixels == [Thumbnail.Pixel(0, 0, 0, alpha: 0)])
    }

    /// Red at the left, blue at the right, 32 × 16 pixels; the blue of the last one cannot be seen.
    private static let halves: [(ImageHeader.Format, String, isClear: Bool)] = [
        (
            .jpeg,
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSop\
            GR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo\
            KCj/wAARCAAQACADAREAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAYH/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABYBAQEBAAAA\
            AAAAAAAAAAAAAAAIBv/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AM6Y5SICAWElYBfo9VSAgFhJWAf/2Q==
            """, false
        ),
        (
            .jpeg,
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSop\
            GR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo\
            KCj/wgARCAAQACADAREAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAUG/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAcF/9oADAMBAAIQ\
            AxAAAAHOY1IECwysX49VBAsMrH//xAAUEAEAAAAAAAAAAAAAAAAAAAAw/9oACAEBAAEFAg//xAAUEQEAAAAAAAAAAAAAAAAAAAAw/9oA\
            CAEDAQE/AQ//xAAUEQEAAAAAAAAAAAAAAAAAAAAw/9oACAECAQE/AQ//xAAUEAEAAAAAAAAAAAAAAAAAAAAw/9oACAEBAAY/Ag//xAAU\
            EAEAAAAAAAAAAAAAAAAAAAAw/9oACAEBAAE/IQ//2gAMAwEAAgADAAAAEP0v0v/EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQMBAT8Q\
            D//EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQIBAT8QD//EABQQAQAAAAAAAAAAAAAAAAAAADD/2gAIAQEAAT8QD//Z
            """, false
        ),
        (
            .webP,
            """
            UklGRk4AAABXRUJQVlA4IEIAAAAQAwCdASogABAAAUAmJaACdMoRwN4B+IH6q8YFygATfQAA/vLrf/zUxYDJHP/0sa3VwBw/65bK3o+M\
            3Kvi7lqoAAA=
            """, false
        ), (.webP, "UklGRiYAAABXRUJQVlA4TBkAAAAvH8ADEA8Q87//8x8qBAJJ/tIDLBDR/yheAA==", true),
    ]

    @Test func `JPEG and WebP images become small, whole or cut off anywhere`() throws {
        for (format, base64, isClear) in Self.halves {
            let bytes = Array(try #require(Data(base64Encoded: base64)))
            let header = try #require(ImageHeader(ByteBuffer(bytes: bytes)))
            #expect(header.format == format && header.width == 32 && header.height == 16)
            let image = try Thumbnail(ByteBuffer(bytes: bytes), format, maximumWidth: 8, maximumHeight: 8)
            #expect(image.width == 8 && image.height == 4 && !image.isCut)
            let (left, right) = (image.pixels[0], image.pixels[7])
            #expect(left.red > 230 && left.blue < 25 && left.alpha == 255, "\(format) \(left)")
            #expect(isClear ? right.alpha == 0 : right.blue > 230 && right.red < 25, "\(format) \(right)")
            for length in 0..<bytes.count {
                // Nothing but that it ends, and says so where it has something to show.
                _ = try? Thumbnail(
                    ByteBuffer(bytes: bytes.prefix(length)),
                    format,
                    maximumWidth: 8,
                    maximumHeight: 8
                )
            }
            for place in bytes.indices {
                var damaged = bytes
                damaged[place] ^= 0xFF
                _ = try? Thumbnail(ByteBuffer(bytes: damaged), format, maximumWidth: 8, maximumHeight: 8)
            }
        }
    }

    @Test func `an animated WebP has a reason in place of its preview`() throws {
        let base64 = """
            UklGRsoAAABXRUJQVlA4WAoAAAACAAAABwAABwAAQU5JTQYAAAAAAAAAAABBTk1GSgAAAAAAAAAAAAcAAAcAAGQAAAJWUDggMgAAADAB\
            AJ0BKggACAABQCYloAADcAD+8ut///mwP/bz/wR6Af//0uD//pcH//S4P/SkAAAAQU5NRkwAAAAAAAAAAAAHAAAHAABkAAAAVlA4IDQA\
            AAA0AQCdASoIAAgAAAAmJaAAA3AA/ukiH//3nz//ufP/+58/6M///yn7//I4//8jj/5QIAAA
            """
        let bytes = ByteBuffer(bytes: try #require(Data(base64Encoded: base64)))
        let problem = #expect(throws: Thumbnail.ImageError.self) {
            try Thumbnail(bytes, .webP, maximumWidth: 8, maximumHeight: 8)
        }
        #expect(problem?.description == "it is animated")
    }

    @Test func `a large image becomes small`() throws {
        let rows = (0..<100).flatMap { _ in [0] + [UInt8](repeating: 100, count: 200) }
        let image = try Thumbnail(
            ByteBuffer(bytes: ImageTests.png(width: 200, height: 100, type: 0, rows: rows)),
            .png,
            maximumWidth: 20,
            maximumHeight: 50
        )
        #expect(image.width == 20 && image.height == 10)
        #expect(image.pixels.allSatisfy { $0.red == 100 && $0.alpha == 255 })
    }

    @Test func `a broken image has a reason in place of its preview`() {
        var huge = ImageTests.fourColours
        huge.replaceSubrange(16..<24, with: [0, 0x80, 0, 0, 0, 0x80, 0, 0])
        let source = BodySource()
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        source.set(.responseReceived, huge)
        #expect(Example.lines(.response, exchange, source).contains("  (no preview: it is too large)"))
        for length in stride(from: 8, to: ImageTests.fourColours.count, by: 1) {
            source.set(.responseReceived, ImageTests.fourColours.prefix(length))
            #expect(Example.lines(.response, exchange, source).contains { $0.contains("PNG image") })
        }
    }

    @Test(arguments: [
        ("GIF89a\u{10}\u{0}\u{8}\u{0}", ImageHeader.Format.gif, 16, 8),
        (
            "RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8X\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{F}\u{0}\u{0}\u{7}\u{0}\u{0}",
            .webP, 16, 8
        ),
        ("\u{0}\u{0}\u{1}\u{0}\u{1}\u{0}\u{10}\u{10}", .icon, 16, 16),
        (
            "\u{0}\u{0}\u{0}\u{10}ftypavif\u{0}\u{0}\u{0}\u{0}ispe\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{40}\u{0}\u{0}\u{0}\u{20}",
            .avif, 64, 32
        ),
    ])
    func `headers of other images tell their size`(text: String, format: ImageHeader.Format, width: Int, height: Int) {
        let header = ImageHeader(ByteBuffer(string: text))
        #expect(header?.format == format)
        #expect(header?.width == width)
        #expect(header?.height == height)
    }

    @Test func `a JPEG's size stands in its frame, after other segments`() {
        let jpeg: [UInt8] = [
            0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 11, 8, 1, 0x2C, 2, 0x58, 1, 1, 0x11, 0,
        ]
        let header = ImageHeader(ByteBuffer(bytes: jpeg))
        #expect(header?.width == 600 && header?.height == 300 && header?.remark == "progressive")
    }
}
