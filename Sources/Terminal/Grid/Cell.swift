import Text

/// One column of one row: its character and style.
///
/// A cell has sixteen bytes and is compared as two integers. The text is at most eight bytes of UTF-8: a longer cluster
/// keeps its base and the next scalars that fit. A wide character is a cell of ``width`` 2 and a continuation cell.
package struct Cell: Hashable, Sendable {
    /// UTF-8, first byte lowest; 0 in a continuation.
    let glyph: UInt64
    /// The style's bits (0–39) and the two flags.
    let format: UInt64

    private static let continuationFlag: UInt64 = 1 << 56
    private static let wideFlag: UInt64 = 1 << 57

    init(glyph: UInt64, isWide: Bool, style: UInt64) {
        self.glyph = glyph
        format = isWide ? style | Cell.wideFlag : style
    }

    /// A cell of one character, as ``CellBuffer/write(_:x:y:style:limit:ellipsis:)`` draws it.
    package init(_ character: Character = " ", style: Style = .plain) {
        let glyph = Glyph.drawing(of: character).first
        self.init(glyph: glyph.bytes, isWide: glyph.columns == 2, style: style.packed)
    }

    package static let blank = Cell(glyph: 0x20, isWide: false, style: 0)

    package var text: String {
        var bytes: [UInt8] = []
        writeGlyph(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package var style: Style { Style(packed: styleBits) }

    /// Whether it is the second column of the character at its left.
    package var isContinuation: Bool { format & Cell.continuationFlag != 0 }

    /// 1 or 2 columns, and 0 in a continuation.
    package var width: Int { isContinuation ? 0 : isWide ? 2 : 1 }
    var isWide: Bool { format & Cell.wideFlag != 0 }

    var styleBits: UInt64 { format & 0xFF_FFFF_FFFF }

    var continuation: Cell { Cell(glyph: 0, isWide: false, style: styleBits | Cell.continuationFlag) }

    func styled(_ style: Style) -> Cell { Cell(glyph: glyph, isWide: isWide, style: style.packed) }

    var blanked: Cell { Cell(glyph: 0x20, isWide: false, style: styleBits) }

    func writeGlyph(to bytes: inout [UInt8]) {
        var rest = glyph
        while rest != 0 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}
