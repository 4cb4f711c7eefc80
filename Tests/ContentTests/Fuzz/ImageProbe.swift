import Content
import NIOCore
import Support

/// Reads arbitrary bytes as the header of an image, and where they are one makes it small.
enum ImageProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        var image = input.bytes
        // The sides stand at other places in each format; a fuzzer seldom finds them.
        if input.number(below: 2) == 1, image.count > 8 {
            let place = (Int(input.decide()) << 8 | Int(input.decide())) % (image.count - 8)
            let sides = [input.choose(HostileNumbers.whole), input.choose(HostileNumbers.whole)]
            let isBig = input.number(below: 2) == 0
            for (index, side) in sides.enumerated() {
                for byte in 0..<4 {
                    let shift = isBig ? 24 - 8 * byte : 8 * byte
                    image[place + 4 * index + byte] = UInt8(truncatingIfNeeded: side >> Int64(shift))
                }
            }
        }
        try read(image, width: 1 + input.number(below: 120), height: 1 + input.number(below: 96))
    }

    /// Reads an image.
    static func read(_ image: [UInt8], width: Int, height: Int) throws {
        let bytes = ByteBuffer(bytes: image)
        guard let header = ImageHeader(bytes) else { return }
        let sides = 0...1 << 24
        try demand(sides.contains(header.width) && sides.contains(header.height), "\(header) has impossible sides")
        try demand((header.width == 0) == (header.height == 0), "\(header) has one side")
        let small: Thumbnail
        do {
            small = try Thumbnail(bytes, header.format, maximumWidth: width, maximumHeight: height)
        } catch {
            return try demand(!error.description.isEmpty, "no reason")
        }
        try demand((1...width).contains(small.width) && (1...height).contains(small.height), "\(header) is too large")
        try demand(small.pixels.count == small.width * small.height, "\(header) lacks pixels")
    }
}
