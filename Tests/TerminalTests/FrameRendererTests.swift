import Support
import Testing

@testable import Terminal

@Suite("Frames")
struct FrameRendererTests {
    private static let words = [
        "GET /v1/users", "漢字かな", "한국어", "e\u{301}clair", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "❤️", "👍🏽", "a\tb", "\u{1B}[31m", "│├──╮", "…", "क्षत्रिय",
        "x", "ﾊﾝｶｸ", "\u{202E}abc", "   ", "🙂🙂", "200 OK", "i\u{200B}j", "éèü",
    ]

    private static func style(_ random: inout SplitMix) -> Style {
        func color() -> Color {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .ansi(.random(in: 0..<16, using: &random))
            case 1: .palette(.random(in: 0...255, using: &random))
            default: .standard
            }
        }
        let attributes = Bool.random(using: &random) ? 0 : UInt8.random(in: 0..<16, using: &random)
        return Style(color(), on: color(), Style.Attributes(rawValue: attributes))
    }

    private static func change(_ buffer: inout CellBuffer, _ random: inout SplitMix) {
        let x = Int.random(in: -3...buffer.size.width, using: &random)
        let y = Int.random(in: -1...buffer.size.height, using: &random)
        let rect = Rect(
            x: x,
            y: y,
            width: .random(in: 0...12, using: &random),
            height: .random(in: 0...3, using: &random)
        )
        switch Int.random(in: 0..<6, using: &random) {
        case 0: buffer.fill(rect, with: words.randomElement(using: &random)?.first ?? " ", style: style(&random))
        case 1: buffer.fill(rect, style: .plain)
        case 2:
            let style = style(&random)
            buffer.restyle(rect) { $0.with(style.attributes).on(style.background) }
        default:
            let text = (0..<3).compactMap { _ in words.randomElement(using: &random) }.joined()
            let limit = Bool.random(using: &random) ? nil : Int.random(in: 0...9, using: &random)
            buffer.write(text, x: x, y: y, style: style(&random), limit: limit)
        }
    }

    /// The first difference between what the screen shows and what the frame asks for.
    private static func difference(_ screen: VirtualScreen, _ frame: CellBuffer, _ depth: ColorDepth) -> String? {
        for y in 0..<frame.size.height {
            for x in 0..<frame.size.width {
                let (spot, cell) = (screen[x, y], frame[x, y])
                let isHidden = cell.isContinuation && screen.isOld && spot.text == " "
                if spot.text != cell.text, !isHidden { return "(\(x), \(y)): \(spot.text) is not \(cell.text)" }
                let style = cell.style.degraded(to: depth)
                if spot.style != style { return "(\(x), \(y)): \(spot.style) is not \(style)" }
            }
        }
        let place = screen.isCursorVisible ? CursorPosition(x: screen.x, y: screen.y) : nil
        let wanted = frame.cursor.flatMap { frame.bounds.contains(x: $0.x, y: $0.y) ? $0 : nil }
        return place == wanted ? nil : "the cursor is not where it should be"
    }

    @Test(
        "whatever is drawn, the screen shows it",
        arguments: [ColorDepth.none, .ansi8, .ansi16, .palette256],
        [false, true]
    )
    func randomFrames(depth: ColorDepth, isOld: Bool) {
        for seed in 1...40 as ClosedRange<UInt64> {
            var random = SplitMix(seed)
            var size = Size(width: .random(in: 2...30, using: &random), height: .random(in: 1...6, using: &random))
            var screen = VirtualScreen(size)
            screen.isOld = isOld
            var renderer = FrameRenderer(TerminalCapabilities(colorDepth: depth))
            var frame = CellBuffer(size)
            for step in 0..<30 {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: frame = CellBuffer(size)
                case 1:
                    size = Size(width: .random(in: 2...30, using: &random), height: .random(in: 1...6, using: &random))
                    screen.resize(size)
                    frame = CellBuffer(size)
                case 2: renderer.invalidate()
                default: break
                }
                for _ in 0..<Int.random(in: 0...4, using: &random) { Self.change(&frame, &random) }
                frame.cursor =
                    Bool.random(using: &random)
                    ? CursorPosition(x: .random(in: -1...size.width, using: &random), y: 0) : nil
                screen.feed(renderer.render(frame))
                let problem = Self.difference(screen, frame, depth)
                #expect(problem == nil, "seed \(seed), step \(step)")
                #expect(screen.unknown.isEmpty && screen.scrolls == 0 && screen.synchronized == 0)
                #expect(renderer.render(frame).isEmpty)
                if problem != nil { return }
            }
        }
    }

    @Test("what a terminal makes of a cluster is gone with it, and covers nothing else")
    func splitClusters() {
        for seed in 1...200 as ClosedRange<UInt64> {
            var random = SplitMix(seed)
            let size = Size(width: .random(in: 6...40, using: &random), height: 4)
            var screen = VirtualScreen(size)
            screen.isSplitting = true
            var renderer = FrameRenderer(TerminalCapabilities())
            for step in 0..<12 {
                // As a list that scrolls: every row is another one than before.
                var frame = CellBuffer(size)
                for y in 0..<4 {
                    let text = (0..<4).compactMap { _ in Self.words.randomElement(using: &random) }.joined(
                        separator: " "
                    )
                    frame.write(text, x: 0, y: y, style: Bool.random(using: &random) ? .plain : Self.style(&random))
                }
                screen.feed(renderer.render(frame))
                for y in 0..<4 {
                    for x in 0..<size.width where frame[x, y].glyph < 0x80 && !frame[x, y].isContinuation {
                        let (shown, wanted) = (screen[x, y].text, frame[x, y].text)
                        #expect(shown == wanted, "seed \(seed), step \(step), (\(x), \(y)): \(shown) is not \(wanted)")
                        if shown != wanted { return }
                    }
                }
            }
        }
    }

    @Test("the row of a skin tone is erased and written whole, others are not")
    func wholeRows() {
        let changed = change({ $0.write("X", x: 12, y: 0) }, before: { $0.write("a 👋🏽 b     c  d", x: 0, y: 0) })
        #expect(changed == "^[?2026h^[1;3H^[K  ^[3G👋🏽^[1;5H b     cX d^[K^[?2026l".replacing("^[3G", with: "^[1;3H"))
        let plain = change({ $0.write("X", x: 12, y: 0) }, before: { $0.write("a 漢 b     c  d", x: 0, y: 0) })
        #expect(plain == "^[?2026h^[1;13HX^[?2026l")
    }

    @Test("a grid never holds half of a wide character")
    func wholeCharacters() {
        for seed in 1...60 as ClosedRange<UInt64> {
            var random = SplitMix(seed)
            var frame = CellBuffer(Size(width: 12, height: 2))
            frame.clip = Rect(x: 1, y: 0, width: 9, height: 2)
            for _ in 0..<40 { Self.change(&frame, &random) }
            for y in 0..<2 {
                for x in 0..<12 {
                    #expect(frame[x, y].isContinuation == (x > 0 && frame[x - 1, y].width == 2))
                    if frame[x, y].isContinuation { #expect(frame[x, y].style == frame[x - 1, y].style) }
                    if !frame.clip.contains(x: x, y: y) { #expect(frame[x, y] == .blank) }
                }
            }
        }
    }

    private func change(_ edit: (inout CellBuffer) -> Void, before: (inout CellBuffer) -> Void = { _ in }) -> String {
        var renderer = FrameRenderer(TerminalCapabilities())
        var frame = CellBuffer(Size(width: 20, height: 3))
        before(&frame)
        // Leaves the cursor in the last row.
        frame.write("end", x: 0, y: 2)
        _ = renderer.render(frame)
        edit(&frame)
        return String(decoding: renderer.render(frame), as: UTF8.self).replacing("\u{1B}", with: "^")
    }

    @Test("a small change is a few bytes within a synchronized update")
    func smallChanges() {
        let changed = change({ $0.write("5", x: 7, y: 1) }, before: { $0.write("count: 4", x: 0, y: 1) })
        #expect(changed == "^[?2026h^[2;8H5^[?2026l")
        let styled = change { $0.write("no", x: 0, y: 0, style: Style(.ansi(1), .bold)) }
        #expect(styled == "^[?2026h^[H^[1;31mno^[?2026l")
    }

    @Test("the rest of a line is erased where that is shorter")
    func erases() {
        let rest = Rect(x: 2, y: 0, width: 18, height: 1)
        let long = change({ $0.fill(rest, style: .plain) }, before: { $0.write("abcdefghijklmnop", x: 0, y: 0) })
        #expect(long == "^[?2026h^[1;3H^[K^[?2026l")
        let short = change({ $0.fill(rest, style: .plain) }, before: { $0.write("abcd", x: 0, y: 0) })
        #expect(short == "^[?2026h^[1;3H  ^[?2026l")
    }

    @Test("a short way between two changes is written again, a long one is jumped over")
    func gaps() {
        let near = change({ $0.write("Xb cX", x: 0, y: 0) }, before: { $0.write("ab cd", x: 0, y: 0) })
        #expect(near == "^[?2026h^[HXb cX^[?2026l")
        let far = change({ $0.write("Xbcdefgh X", x: 0, y: 0) }, before: { $0.write("abcdefgh i", x: 0, y: 0) })
        #expect(far == "^[?2026h^[HX^[8CX^[?2026l")
    }

    @Test("without Unicode everything becomes ASCII of the same width")
    func ascii() {
        var renderer = FrameRenderer(TerminalCapabilities(isUnicode: false))
        var frame = CellBuffer(Size(width: 20, height: 2))
        frame.write("┌─┐│→ é漢字…█▁✓ “a”", x: 0, y: 0)
        let bytes = renderer.render(frame)
        #expect(bytes.allSatisfy { $0 < 0x80 })
        var screen = VirtualScreen(frame.size)
        screen.feed(bytes)
        #expect(screen.row(0) == "+-+|> e? ? ~#_+ \"a\" ")
    }

    @Test("what differs in many colours differs in few")
    func degraded() {
        #expect(Style(.palette(196)).degraded(to: .ansi16) == Style(.ansi(9)))
        #expect(Style(.palette(240)).degraded(to: .ansi16) == Style(.ansi(8)))
        #expect(Style(.ansi(9)).degraded(to: .ansi8) == Style(.ansi(1), .bold))
        #expect(Style(.ansi(8)).degraded(to: .ansi8) == Style(.standard, .dim))
        #expect(Style(.palette(17), on: .palette(18), .underline).degraded(to: .none) == Style(.standard, .underline))
        for depth in [ColorDepth.ansi8, .ansi16] {
            for front in 0...255 as ClosedRange<UInt8> {
                for back in stride(from: 0, through: 255, by: 7) where UInt8(back) != front {
                    let style = Style(.palette(front), on: .palette(UInt8(back))).degraded(to: depth)
                    #expect(style.foreground != style.background)
                }
            }
        }
    }
}

struct HueTests {
    @Test(arguments: [(203, 9), (114, 10), (221, 11), (75, 14), (22, 2), (244, 8), (255, 7)] as [(UInt8, UInt8)])
    func `a pale colour keeps its hue among sixteen, and greys stay grey`(_ palette: UInt8, _ number: UInt8) {
        let style = Style(.palette(palette)).degraded(to: .ansi16)
        #expect(style.foreground == .ansi(number))
    }
}
