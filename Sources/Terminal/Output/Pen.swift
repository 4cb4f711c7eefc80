/// Tracks the style of the terminal's next character, and writes the shortest change to a new style.
struct Pen: Sendable {
    private let depth: ColorDepth
    private var current: UInt64?
    /// The style of the last ``set(to:output:)``, before degrading.
    private var asked: UInt64?

    init(depth: ColorDepth) { self.depth = depth }

    mutating func forget() {
        current = nil
        asked = nil
    }

    /// Whether the pen already has a style, given as ``Style/packed``.
    func isSet(to style: UInt64) -> Bool { asked == style }

    /// Writes the change to a style, given as ``Style/packed``.
    mutating func set(to style: UInt64, output: inout [UInt8]) {
        if asked == style { return }
        asked = style
        let next = Style(packed: style).degraded(to: depth).packed
        guard current != next else { return }
        let before = current.map(Style.init(packed:))
        current = next
        write(Style(packed: next), after: before, output: &output)
    }

    private func write(_ style: Style, after before: Style?, output: inout [UInt8]) {
        output += [0x1B, 0x5B]
        guard style != .plain else {
            // `ESC [ m` without a number resets the style.
            output.append(0x6D)
            return
        }
        var known = before ?? .plain
        if before == nil || !known.attributes.isSubset(of: style.attributes) {
            output += [0x30, 0x3B]
            known = .plain
        }
        for (attribute, code) in Pen.codes where style.attributes.subtracting(known.attributes).contains(attribute) {
            output += [code, 0x3B]
        }
        if style.foreground != known.foreground { write(style.foreground, base: 30, output: &output) }
        if style.background != known.background { write(style.background, base: 40, output: &output) }
        // The final `m` replaces the last semicolon; different styles always write at least one number.
        output[output.count - 1] = 0x6D
    }

    /// Each attribute's number, a digit.
    private static let codes: [(Style.Attributes, UInt8)] = [
        (.bold, 0x31), (.dim, 0x32), (.underline, 0x34), (.reverse, 0x37),
    ]

    private func write(_ color: Color, base: Int, output: inout [UInt8]) {
        switch color {
        case .standard: output.appendDecimal(base + 9)
        case .ansi(let number) where number < 8: output.appendDecimal(base + Int(number))
        case .ansi(let number): output.appendDecimal(base + 52 + Int(number & 15))
        case .palette(let number):
            output.appendDecimal(base + 8)
            output += [0x3B, 0x35, 0x3B]
            output.appendDecimal(Int(number))
        }
        output.append(0x3B)
    }
}
