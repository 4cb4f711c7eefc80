public import NIOCore

/// A PNG image (ISO 15948) made small: each pixel is the mean of those that it stands for.
///
/// The image is decoded row by row and never whole in memory. Interlaced images are not read.
public struct PNGThumbnail: Sendable, Hashable {
    /// Why an image cannot be made small.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in a few words.
        public var description: String
    }

    /// A pixel; red, green and blue are as they look upon black.
    public struct Pixel: Sendable, Hashable {
        /// How red it is.
        public var red: UInt8
        /// How green it is.
        public var green: UInt8
        /// How blue it is.
        public var blue: UInt8
        /// How opaque it is: 0 cannot be seen.
        public var alpha: UInt8

        /// Creates a pixel.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
        }
    }

    /// More bytes of pixels than these are not decoded.
    private static let mostBytes = 48 << 20

    /// How many pixels it is wide.
    public let width: Int
    /// How many pixels it is high.
    public let height: Int
    /// The pixels, row by row.
    public let pixels: [Pixel]
    /// Whether the image ended early, so that its lower part is missing.
    public let isCut: Bool

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - maximumWidth: how many pixels it may be wide at most; smaller images keep their size.
    ///   - maximumHeight: how many pixels it may be high at most.
    /// - Throws: ``Problem`` where it is no PNG image, interlaced, or too large.
    public init(_ bytes: ByteBuffer, maximumWidth: Int, maximumHeight: Int) throws(Problem) {
        let bytes = Array(bytes.readableBytesView)
        var chunks = PNGChunks(bytes)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), let first = chunks.next(),
            first.type == "IHDR", let shape = PNGShape(bytes[first.range])
        else { throw Problem(description: "its header cannot be read") }
        guard !shape.isInterlaced else { throw Problem(description: "it is interlaced") }
        guard shape.rowLength.multipliedReportingOverflow(by: shape.height).overflow == false,
            shape.rowLength * shape.height <= PNGThumbnail.mostBytes
        else { throw Problem(description: "it is too large") }
        let scale = max(
            1,
            Double(shape.width) / Double(max(1, maximumWidth)),
            Double(shape.height) / Double(max(1, maximumHeight))
        )
        width = max(1, min(maximumWidth, Int((Double(shape.width) / scale).rounded())))
        height = max(1, min(maximumHeight, Int((Double(shape.height) / scale).rounded())))
        var rows = PNGRows(shape: shape, width: width, height: height)
        let decoder = ContentDecoder(codings: [.deflate], limit: PNGThumbnail.mostBytes + shape.height)
        while let chunk = chunks.next(), !rows.isComplete {
            switch chunk.type {
            case "PLTE": rows.palette = PNGRows.palette(bytes[chunk.range])
            case "tRNS": rows.setTransparency(bytes[chunk.range])
            case "IDAT": decoder.decode(ByteBuffer(bytes: bytes[chunk.range])) { rows.feed($0) }
            default: break
            }
        }
        guard rows.rowCount > 0 else { throw Problem(description: "its pixels cannot be decoded") }
        isCut = !rows.isComplete
        pixels = rows.means()
    }
}

/// The chunks of a PNG file; checksums are not looked at.
private struct PNGChunks {
    private let bytes: [UInt8]
    private var place = 8

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next chunk's type and content; of a chunk that is cut off, what is there.
    mutating func next() -> (type: String, range: Range<Int>)? {
        guard place + 8 <= bytes.count else { return nil }
        let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        let type = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
        let start = place + 8
        guard type != "IEND", length < 1 << 31 else { return nil }
        place = start + length + 4
        return (type, start..<min(start + length, bytes.count))
    }
}

/// What the header of a PNG image says.
struct PNGShape {
    let width: Int
    let height: Int
    let depth: Int
    let colourType: UInt8
    let isInterlaced: Bool

    init?(_ header: ArraySlice<UInt8>) {
        let header = Array(header)
        guard header.count >= 13, header[10] == 0, header[11] == 0 else { return nil }
        width = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = header[4..<8].reduce(0) { $0 << 8 | Int($1) }
        depth = Int(header[8])
        colourType = header[9]
        isInterlaced = header[12] != 0
        let depths: [UInt8: Set<Int>] = [
            0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
        ]
        guard (1..<1 << 24).contains(width), (1..<1 << 24).contains(height),
            depths[colourType]?.contains(depth) == true
        else { return nil }
    }

    /// How many samples a pixel has.
    var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colourType] ?? 1 }
    /// How many bytes a row has, without the one that names its filter.
    var rowLength: Int { (width * channels * depth + 7) / 8 }
    /// How many bytes back the pixel to the left is.
    var pixelLength: Int { max(1, channels * depth / 8) }
}
