/// A terminal colour. Views may always use the palette: ``FrameRenderer`` degrades it.
package enum Color: Hashable, Sendable {
    /// The terminal's own colour for text or background.
    case standard
    /// 0–7 black, red, green, yellow, blue, magenta, cyan, white; 8–15 the bright ones.
    case ansi(UInt8)
    /// 0–15 as ``ansi(_:)``, 16–231 a cube of 6×6×6, 232–255 greys.
    case palette(UInt8)

    /// The kind in the high byte, the number in the low byte.
    var packed: UInt16 {
        switch self {
        case .standard: 0
        case .ansi(let number): 0x100 | UInt16(number)
        case .palette(let number): 0x200 | UInt16(number)
        }
    }

    init(packed: UInt16) {
        switch packed >> 8 {
        case 1: self = .ansi(UInt8(truncatingIfNeeded: packed))
        case 2: self = .palette(UInt8(truncatingIfNeeded: packed))
        default: self = .standard
        }
    }
}

package struct Style: Hashable, Sendable {
    package struct Attributes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let bold = Attributes(rawValue: 1)
        package static let dim = Attributes(rawValue: 2)
        package static let underline = Attributes(rawValue: 4)
        package static let reverse = Attributes(rawValue: 8)
    }

    package var foreground: Color
    package var background: Color
    package var attributes: Attributes

    package static let plain = Style()

    package init(_ foreground: Color = .standard, on background: Color = .standard, _ attributes: Attributes = []) {
        (self.foreground, self.background, self.attributes) = (foreground, background, attributes)
    }

    package func with(_ attributes: Attributes) -> Style {
        Style(foreground, on: background, self.attributes.union(attributes))
    }

    package func on(_ background: Color) -> Style { Style(foreground, on: background, attributes) }

    /// Foreground in bits 0–15, background in 16–31, attributes in 32–39.
    var packed: UInt64 {
        UInt64(foreground.packed) | UInt64(background.packed) << 16 | UInt64(attributes.rawValue) << 32
    }

    init(packed: UInt64) {
        self.init(
            Color(packed: UInt16(truncatingIfNeeded: packed)),
            on: Color(packed: UInt16(truncatingIfNeeded: packed >> 16)),
            Attributes(rawValue: UInt8(truncatingIfNeeded: packed >> 32))
        )
    }
}
