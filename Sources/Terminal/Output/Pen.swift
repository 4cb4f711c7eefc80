/// The style of the terminal's next character, and the shortest change of it.
struct Pen: Sendable {
    private let depth: ColorDepth
    private var current: UInt64?
    /// The style last asked for, before degrading.
    private var asked: UInt64?

    init(depth: ColorDepth) { self.depth = depth }

    mutating func forget() {
        current = nil
        asked = nil
    }

    /// Whether a style, as ``Style/packed``, needs no change.
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
        output.append(0x1B)
        output.append(0x5B)
        var known = before ?? .plain
        var isFirst = true
        if before == nil || style == .plain || !known.attributes.isSubset(of: style.attributes) {
            // Without a number it means reset.
            if style == .plain {
                output.append(0x6D)
                return
            }
            output.append(0x30)
            isFirst = false
            known = .plain
        }
        for (attribute, code) in Pen.codes where style.attributes.subtracting(known.attributes).contains(attribute) {
            separate(&isFirst, &output)
            output.append(code)
        }
        if style.foreground != known.foreground {
            write(style.foreground, base: 30, isFirst: &isFirst, output: &output)
        }
        if style.background != known.background {
            write(style.background, base: 40, isFirst: &isFirst, output: &output)
        }
        output.append(0x6D)
    }

    /// Each attribute's number, a digit.
    private static let codes: [(Style.Attributes, UInt8)] = [
        (.bold, 0x31), (.dim, 0x32), (.italic, 0x33), (.underline, 0x34), (.reverse, 0x37), (.strikethrough, 0x39),
    ]

    private func write(_ color: Color, base: Int, isFirst: inout Bool, output: inout [UInt8]) {
        separate(&isFirst, &output)
        switch color {
        case .standard: output.appendDecimal(base + 9)
        case .ansi(let number) where number < 8: output.appendDecimal(base + Int(number))
        case .ansi(let number): output.appendDecimal(base + 52 + Int(number & 15))
        case .palette(let number):
            output.appendDecimal(base + 8)
            output += [0x3B, 0x35, 0x3B]
            output.appendDecimal(Int(number))
        }
    }

    private func separate(_ isFirst: inout Bool, _ output: inout [UInt8]) {
        if !isFirst { output.append(0x3B) }
        isFirst = false
    }
}
