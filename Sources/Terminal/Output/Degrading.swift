extension Style {
    /// The style in the terminal's colours. With eight colours, bold replaces a bright foreground. Text stays legible.
    func degraded(to depth: ColorDepth) -> Style {
        switch depth {
        case .palette256: return self
        case .none: return Style(.standard, on: .standard, attributes)
        case .ansi16: return Style(foreground.nearest16, on: background.nearest16, attributes).legible(instead: self)
        case .ansi8:
            var style = Style(foreground.nearest16, on: background.nearest16, attributes)
            if case .ansi(let number) = style.background { style.background = .ansi(number & 7) }
            if case .ansi(let number) = style.foreground, number >= 8 {
                style.attributes.insert(number == 8 ? .dim : .bold)
                style.foreground = number == 8 ? .standard : .ansi(number & 7)
            }
            return style.legible(instead: self)
        }
    }

    private func legible(instead original: Style) -> Style {
        guard case .ansi(let number) = background, foreground == background,
            original.foreground != original.background
        else { return self }
        // Green, yellow, cyan and white are light.
        let isLight = number > 8 || [2, 3, 6, 7].contains(number)
        return Style(isLight ? .ansi(0) : .ansi(7), on: background, attributes)
    }
}

extension Color {
    var nearest16: Color {
        switch self {
        case .standard: .standard
        case .ansi(let number): .ansi(number & 15)
        case .palette(let number): .ansi(Color.nearest[Int(number)])
        }
    }

    private static let nearest: [UInt8] = (0...255).map { number in
        if number < 16 { return UInt8(number) }
        let color = components(of: number)
        if let hue = hue(of: color) { return hue }
        func distance(_ index: Int) -> Int {
            let other = sixteen[index]
            let (red, green, blue) = (color.0 - other.0, color.1 - other.1, color.2 - other.2)
            return 3 * red * red + 6 * green * green + blue * blue
        }
        return UInt8((0..<16).min { distance($0) < distance($1) } ?? 7)
    }

    /// The one of the sixteen colours with the same hue; `nil` for greys and near greys. Grey would be nearer to a pale
    /// red, but only the hue distinguishes it from other pale colours.
    private static func hue(of color: (Int, Int, Int)) -> UInt8? {
        let high = max(color.0, color.1, color.2)
        let low = min(color.0, color.1, color.2)
        guard high - low >= 60 else { return nil }
        func bit(_ value: Int, _ bit: UInt8) -> UInt8 { value * 2 >= high + low ? bit : 0 }
        return bit(color.0, 1) | bit(color.1, 2) | bit(color.2, 4) | (high >= 200 ? 8 : 0)
    }

    private static func components(of number: Int) -> (Int, Int, Int) {
        if number >= 232 {
            let grey = 8 + 10 * (number - 232)
            return (grey, grey, grey)
        }
        func level(_ step: Int) -> Int { step == 0 ? 0 : 55 + 40 * step }
        let index = number - 16
        return (level(index / 36), level(index / 6 % 6), level(index % 6))
    }

    /// Red, green and blue of the sixteen colours, as in xterm.
    private static let sixteen: [(Int, Int, Int)] = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
        (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
        (255, 255, 255),
    ]
}
