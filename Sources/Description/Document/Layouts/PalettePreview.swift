import Content

/// A small image in half blocks: each character has an upper and a lower pixel, in colours of the 256-colour palette.
struct PalettePreview {
    let image: Thumbnail

    func write(into writer: inout DetailWriter) {
        for row in stride(from: 0, to: image.height, by: 2) {
            var spans: [Span] = []
            for column in 0..<image.width {
                let upper = colour(row, column)
                let lower = row + 1 < image.height ? colour(row + 1, column) : PalettePreview.black
                if let last = spans.last, last.pixels == [upper, lower] {
                    spans[spans.count - 1].text += "▀"
                } else {
                    spans.append(Span("▀", .image, pixels: [upper, lower]))
                }
            }
            writer.add(spans, wraps: false)
        }
    }

    private static let black: UInt8 = 16

    /// The nearest colour; transparent pixels are drawn on a chequerboard of greys.
    private func colour(_ row: Int, _ column: Int) -> UInt8 {
        let pixel = image.pixels[row * image.width + column]
        let board = (row / 2 + column / 2) % 2 == 0 ? 0x50 : 0x70
        let behind = board * (255 - Int(pixel.alpha)) / 255
        func shown(_ value: UInt8) -> Int { min(255, Int(value) + behind) }
        return PalettePreview.nearest(shown(pixel.red), shown(pixel.green), shown(pixel.blue))
    }

    /// The nearest colour of the palette: from its cube or its greys.
    static func nearest(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
        let steps = [0, 95, 135, 175, 215, 255]
        func step(_ value: Int) -> Int { value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40 }
        let cube = (step(red), step(green), step(blue))
        let grey = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
        func distance(_ first: Int, _ second: Int, _ third: Int) -> Int {
            (first - red) * (first - red) + (second - green) * (second - green) + (third - blue) * (third - blue)
        }
        let level = 8 + grey * 10
        let isGrey = distance(level, level, level) < distance(steps[cube.0], steps[cube.1], steps[cube.2])
        return UInt8(isGrey ? 232 + grey : 16 + 36 * cube.0 + 6 * cube.1 + cube.2)
    }
}
