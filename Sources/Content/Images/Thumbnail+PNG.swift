import NIOCore

extension Thumbnail {
    /// Decodes a PNG image (ISO 15948), row by row and never whole in memory; interlaced images are not read.
    static func png(_ bytes: [UInt8], _ bounds: Bounds, _ goesOn: () -> Bool) throws(ImageError) -> Thumbnail {
        var chunks = PNGChunks(bytes)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), let first = chunks.next(),
            first.type == "IHDR", let shape = PNGShape(bytes[first.range])
        else { throw ImageError(description: "its header cannot be read") }
        guard !shape.isInterlaced else { throw ImageError(description: "it is interlaced") }
        guard shape.width * shape.height <= mostPixels, shape.rowLength * shape.height <= mostBytes else {
            throw ImageError(description: "it is too large")
        }
        let (width, height) = bounds.fitting(shape.width, shape.height)
        var rows = PNGRows(shape: shape, width: width, height: height)
        let decoder = ContentDecoder(codings: [.deflate], limit: mostBytes + shape.height)
        while let chunk = chunks.next(), !rows.isComplete, goesOn() {
            switch chunk.type {
            case "PLTE": rows.palette = PNGRows.palette(bytes[chunk.range])
            case "tRNS": rows.setTransparency(bytes[chunk.range])
            case "IDAT": decoder.decode(ByteBuffer(bytes: bytes[chunk.range])) { if goesOn() { rows.feed($0) } }
            default: break
            }
        }
        guard goesOn() else { throw ImageError(description: "it takes too long") }
        guard rows.rowCount > 0 else { throw ImageError(description: "its pixels cannot be decoded") }
        return Thumbnail(width: width, height: height, pixels: rows.means(), isCut: !rows.isComplete)
    }
}

/// The chunks of a PNG file; checksums are ignored.
private struct PNGChunks {
    private let bytes: [UInt8]
    private var place = 8

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next chunk's type and content; if the chunk is cut off, its beginning.
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

struct PNGShape {
    let width: Int
    let height: Int
    let depth: Int
    let colourType: UInt8
    let isInterlaced: Bool
    /// Samples in a pixel.
    let channels: Int

    init?(_ header: ArraySlice<UInt8>) {
        let header = Array(header)
        guard header.count >= 13, header[10] == 0, header[11] == 0 else { return nil }
        width = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = header[4..<8].reduce(0) { $0 << 8 | Int($1) }
        depth = Int(header[8])
        colourType = header[9]
        isInterlaced = header[12] != 0
        channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colourType] ?? 1
        let depths: [UInt8: Set<Int>] = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
        guard ImageHeader.sides.contains(width), ImageHeader.sides.contains(height),
            depths[colourType]?.contains(depth) == true
        else { return nil }
    }

    /// Bytes in a row without its filter byte.
    var rowLength: Int { (width * channels * depth + 7) / 8 }
    /// The distance to the pixel on the left, in bytes.
    var pixelLength: Int { max(1, channels * depth / 8) }
}
