import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Description

struct InvariantTests {
    private static let sizes = [
        Size(width: 1, height: 1), Size(width: 2, height: 40), Size(width: 11, height: 3), Size(width: 12, height: 2),
        Size(width: 20, height: 5), Size(width: 31, height: 8), Size(width: 64, height: 12),
        Size(width: 110, height: 7),
        Size(width: 250, height: 4),
    ]

    private func check(_ model: ConsoleModel, _ words: String) {
        let screen = ConsoleView.draw(model)
        #expect(screen.size == model.size)
        for y in 0..<screen.size.height {
            let columns = (0..<screen.size.width).reduce(0) { $0 + screen[$1, y].width }
            #expect(columns == screen.size.width, "\(words) row \(y) at \(model.size)")
        }
        guard let cursor = screen.cursor else { return }
        #expect(screen.bounds.contains(x: cursor.x, y: cursor.y), "\(words) cursor at \(model.size)")
    }

    @Test(arguments: Screens.all)
    func `a screen can be drawn at every size, made at it or brought to it`(_ screen: Screens) {
        for size in Self.sizes {
            check(screen.make(size, Look()), screen.name)
            var model = screen.make(Size(width: 120, height: 40), Look(theme: .plain, isUnicode: false))
            _ = model.update(.resized(size))
            check(model, screen.name)
            if model.overlays.isEmpty, model.view == .sequence, model.list.total > 0 {
                let rows = max(1, Layout(model).listRows)
                #expect((model.list.bottom..<model.list.bottom + rows).contains(model.list.selected))
            }
        }
    }

    @Test(arguments: 0..<8)
    func `whatever is pressed, it can be drawn`(_ seed: UInt64) {
        var random = SplitMix(seed &* 7_919 &+ 1)
        let size = Size(width: Int.random(in: 1...250, using: &random), height: Int.random(in: 1...40, using: &random))
        var model = Screens.all.randomElement(using: &random)?.make(size, Look()) ?? ModelFixture.started(size)
        let keys: [Key.Code] =
            [.up, .down, .left, .right, .enter, .escape, .tab, .pageUp, .pageDown, .home, .end, .backspace, .delete]
            + "abcdefghijklmnopqrstuvwxyzABCDEFGHJKLMNOPRSTVWX/\\:?!@#[]=<>12345 値\u{301}👩‍👩‍👧‍👦".map { .character($0) }
        for step in 0..<60 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let width = Int.random(in: 1...250, using: &random)
                _ = model.update(.resized(Size(width: width, height: Int.random(in: 1...40, using: &random))))
            case 1:
                let kinds: [MouseEvent.Kind] = [.press, .release, .drag, .wheelUp, .wheelDown]
                let kind = kinds.randomElement(using: &random) ?? .release
                let x = Int.random(in: -1...250, using: &random)
                _ = model.update(.input(.mouse(MouseEvent(kind, x: x, y: Int.random(in: -1...80, using: &random)))))
            case 2: _ = model.update(.input(.paste("one\r\ntwo\n\u{1B}[2J三\u{301}")))
            case 3:
                let count = Int.random(in: 0...60, using: &random)
                ModelFixture.answer(&model, ModelFixture.plain(count))
            case 4:
                guard let id = model.detail.id else { break }
                let generation = model.detail.generation
                let pages: [DetailPage] = [.overview, .response]
                model.answer { $0.show(ModelFixture.document, pages, of: id, generation) }
            default:
                let modifiers: [Key.Modifiers] = [[], [], [], .control, .alt]
                let key = Key(keys.randomElement(using: &random) ?? .up, modifiers.randomElement(using: &random) ?? [])
                _ = model.update(.input(.key(key)))
            }
            if step.isMultiple(of: 10) { check(model, "seed \(seed)") }
        }
        check(model, "seed \(seed)")
    }
}
