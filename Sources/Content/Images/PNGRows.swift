/// Reads the decompressed rows of a PNG image: undoes their filters, and adds their pixels to the thumbnail's means.
struct PNGRows {
    private let shape: PNGShape
    private let width: Int
    private let height: Int
    /// Red, green, blue and alpha for each colour.
    var palette: [UInt8] = []
    private var transparent: [Int] = []
    private var row: [UInt8]
    private var previous: [UInt8]
    private var filter: UInt8?
    private var filled = 0
    private(set) var rowCount = 0
    /// Sums of red, green, blue (each times alpha) and alpha, and the number of pixels in the sums.
    private var sums: [(values: SIMD4<Int>, count: Int)]

    init(shape: PNGShape, width: Int, height: Int) {
        self.shape = shape
        self.width = width
        self.height = height
        row = [UInt8](repeating: 0, count: shape.rowLength)
        previous = row
        sums = Array(repeating: (SIMD4(), 0), count: width)
    }

    var isComplete: Bool { rowCount == shape.height }

    private var done: [Thumbnail.Pixel] = []

    static func palette(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var palette: [UInt8] = []
        for index in stride(from: bytes.startIndex, to: bytes.endIndex - 2, by: 3).prefix(256) {
            palette += [bytes[index], bytes[index + 1], bytes[index + 2], 255]
        }
        return palette
    }

    /// Reads the transparency chunk (`tRNS`): an alpha for each palette colour, or one transparent colour.
    mutating func setTransparency(_ bytes: ArraySlice<UInt8>) {
        if shape.colourType == 3 {
            for (index, alpha) in bytes.enumerated() where index * 4 + 3 < palette.count {
                palette[index * 4 + 3] = alpha
            }
        } else {
            let bytes = Array(bytes)
            let values = stride(from: 0, to: bytes.count - 1, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
            transparent = values.count >= shape.channels ? Array(values.prefix(shape.channels)) : []
        }
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while place < bytes.count, !isComplete {
            guard let filter else {
                filter = bytes[place]
                place += 1
                continue
            }
            let count = min(bytes.count - place, row.count - filled)
            row.withUnsafeMutableBytes { target in
                UnsafeMutableRawBufferPointer(rebasing: target[filled..<filled + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[place..<place + count]))
            }
            filled += count
            place += count
            if filled == row.count { endRow(filter) }
        }
    }

    /// Missing rows are transparent.
    func means() -> [Thumbnail.Pixel] {
        var copy = self
        if !isComplete { copy.flush() }
        let clear = Thumbnail.Pixel(0, 0, 0, alpha: 0)
        return copy.done + [Thumbnail.Pixel](repeating: clear, count: max(0, width * height - copy.done.count))
    }

    private mutating func endRow(_ filter: UInt8) {
        unfilter(filter)
        addPixels()
        let line = rowCount * height / shape.height
        rowCount += 1
        if isComplete || rowCount * height / shape.height != line { flush() }
        swap(&row, &previous)
        self.filter = nil
        filled = 0
    }

    private mutating func unfilter(_ filter: UInt8) {
        let step = shape.pixelLength
        let count = row.count
        let previous = previous
        row.withUnsafeMutableBufferPointer { row in
            previous.withUnsafeBufferPointer { above in
                switch filter {
                case 1: for index in step..<max(step, count) { row[index] &+= row[index - step] }
                case 2: for index in 0..<count { row[index] &+= above[index] }
                case 3, 4:
                    for index in 0..<count {
                        let left = index >= step ? Int(row[index - step]) : 0
                        let corner = index >= step ? Int(above[index - step]) : 0
                        let over = Int(above[index])
                        row[index] &+= filter == 3 ? UInt8((left + over) / 2) : PNGRows.paeth(left, over, corner)
                    }
                default: break
                }
            }
        }
    }

    private static func paeth(_ left: Int, _ above: Int, _ corner: Int) -> UInt8 {
        let (toLeft, toAbove, toCorner) = (abs(above - corner), abs(left - corner), abs(left + above - 2 * corner))
        if toLeft <= toAbove, toLeft <= toCorner { return UInt8(left) }
        return UInt8(toAbove <= toCorner ? above : corner)
    }

    private mutating func addPixels() {
        row.withUnsafeBufferPointer { row in
            palette.withUnsafeBufferPointer { palette in
                let row = PNGRow(bytes: row, shape: shape, palette: palette, transparent: transparent)
                var column = 0
                for target in 0..<width {
                    let (first, end) = (column, ((target + 1) * shape.width + width - 1) / width)
                    while column < end {
                        let pixel = row.pixel(column)
                        let alpha = Int(pixel.alpha)
                        let colour = SIMD4(Int(pixel.red), Int(pixel.green), Int(pixel.blue), 255)
                        sums[target].values &+= colour &* alpha / 255
                        column += 1
                    }
                    sums[target].count += end - first
                }
            }
        }
    }

    private mutating func flush() {
        guard done.count < width * height else { return }
        done += sums.map { Thumbnail.Pixel($0.values, count: $0.count) }
        sums = Array(repeating: (SIMD4(), 0), count: width)
    }
}

private struct PNGRow {
    let bytes: UnsafeBufferPointer<UInt8>
    let shape: PNGShape
    let palette: UnsafeBufferPointer<UInt8>
    let transparent: [Int]

    func pixel(_ column: Int) -> Thumbnail.Pixel {
        let first = column * shape.channels
        switch shape.colourType {
        case 3:
            let index = raw(first) * 4
            guard index + 3 < palette.count else { return Thumbnail.Pixel(0, 0, 0) }
            return Thumbnail.Pixel(palette[index], palette[index + 1], palette[index + 2], alpha: palette[index + 3])
        case 0, 4:
            let grey = sample(first)
            let alpha = shape.colourType == 4 ? sample(first + 1) : isClear(first, 1) ? 0 : 255
            return Thumbnail.Pixel(grey, grey, grey, alpha: alpha)
        default:
            let alpha: UInt8 = shape.colourType == 6 ? sample(first + 3) : isClear(first, 3) ? 0 : 255
            return Thumbnail.Pixel(sample(first), sample(first + 1), sample(first + 2), alpha: alpha)
        }
    }

    /// Whether the samples are those of the transparent colour.
    private func isClear(_ first: Int, _ count: Int) -> Bool {
        guard transparent.count >= count else { return false }
        for index in 0..<count where raw(first + index) != transparent[index] { return false }
        return true
    }

    private func raw(_ index: Int) -> Int {
        switch shape.depth {
        case 8: return Int(bytes[index])
        case 16: return Int(bytes[index * 2]) << 8 | Int(bytes[index * 2 + 1])
        default:
            let bit = index * shape.depth
            return Int(bytes[bit / 8]) >> (8 - shape.depth - bit % 8) & (1 << shape.depth - 1)
        }
    }

    /// The sample's value scaled to eight bits.
    private func sample(_ index: Int) -> UInt8 {
        switch shape.depth {
        case 8: bytes[index]
        case 16: bytes[index * 2]
        default: UInt8(raw(index) * 255 / (1 << shape.depth - 1))
        }
    }
}
