import Content
import Foundation
import NIOCore
import Support
import Testing

@Suite("Sizes of images")
struct ImageRangeTests {
    @Test(
        "Whatever sides an image claims, they are read in their range or not at all",
        arguments: ImageSeeds.all.indices
    )
    func sides(_ index: Int) throws {
        let seed = ImageSeeds.all[index]
        #expect(ImageHeader(ByteBuffer(bytes: seed.bytes)) != nil, "\(seed.name)")
        for width in HostileNumbers.whole {
            for height in HostileNumbers.whole {
                var image = seed.bytes
                for (place, side) in [(seed.places.width, width), (seed.places.height, height)] {
                    for byte in 0..<seed.length {
                        let shift = 8 * (seed.isBig ? seed.length - 1 - byte : byte)
                        image[place + byte] = UInt8(truncatingIfNeeded: side >> Int64(shift))
                    }
                }
                try ImageProbe.read(image, width: 40, height: 40)
            }
        }
    }

    @Test("An AVIF image with sides of 2^32 - 1 is an AVIF image of unknown size")
    func hugeAVIF() throws {
        let bytes =
            [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0, 0, 0, 0, 20] + Array("ispe".utf8) + [0, 0, 0, 0]
            + [UInt8](repeating: 0xFF, count: 8)
        let header = try #require(ImageHeader(ByteBuffer(bytes: bytes)))
        #expect(header.format == .avif && header.width == 0 && header.height == 0)
    }

    @Test("A PNG of 400 million pixels in a few kilobytes is refused for its pixels")
    func manyPixels() throws {
        var image = ImageSeeds.png(width: 1, height: 1, depth: 1, type: 0)
        // A row is 2 MB of one bit a pixel.
        image.replaceSubrange(16..<24, with: [0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 24])
        let problem = #expect(throws: Thumbnail.ImageError.self) {
            try Thumbnail(ByteBuffer(bytes: image), .png, maximumWidth: 80, maximumHeight: 96)
        }
        #expect(problem?.description == "it is too large")
    }

    @Test("An image that nobody waits for any more is given up")
    func abandoned() throws {
        let image = ImageSeeds.png(width: 600, height: 400, depth: 8, type: 2)
        var asked = 0
        let problem = #expect(throws: Thumbnail.ImageError.self) {
            try Thumbnail(ByteBuffer(bytes: image), .png, maximumWidth: 80, maximumHeight: 96) {
                asked += 1
                return asked < 4
            }
        }
        #expect(problem?.description == "it takes too long")
    }

    @Test("More codings than can be undone are not applied")
    func codings() throws {
        let body = ByteBuffer(string: "x")
        let most = [ContentCoding](repeating: .gzip, count: 8)
        let coded = try ContentEncoder.encode(body, codings: most + [.identity])
        #expect(ContentDecoder.decode(coded, codings: most, limit: 100).bytes == body)
        #expect(throws: EncodingError.self) { try ContentEncoder.encode(body, codings: most + [.gzip]) }
    }
}
