import Support
import Terminal
import Testing

@testable import Console

struct SnapshotTests {
    private static let sizes = [
        Size(width: 80, height: 24), Size(width: 120, height: 40), Size(width: 40, height: 10),
        Size(width: 200, height: 60),
    ]

    @Test(arguments: Screens.all)
    func `a screen looks as it was found good, at four sizes`(_ screen: Screens) throws {
        let frames = Self.sizes.map { size in
            let drawn = ConsoleView.draw(screen.make(size, Look()))
            let cursor = drawn.cursor.map { "cursor at \($0.x),\($0.y)\n" } ?? ""
            return "=== \(size.width)×\(size.height)\n\(drawn.text)\(cursor)"
        }
        try Snapshot.check(frames.joined(), screen.name)
    }

    @Test(arguments: Theme.allCases)
    func `a theme looks as it was found good`(_ theme: Theme) throws {
        let size = Size(width: 80, height: 24)
        let names = ["sequence-marked", "detail", "filter-error", "panel", "held"]
        let frames = Screens.all.filter { names.contains($0.name) }.map { screen in
            "=== \(screen.name)\n" + ConsoleView.draw(screen.make(size, Look(theme: theme))).styledText
        }
        try Snapshot.check(frames.joined(), "theme-\(theme.rawValue)")
    }

    @Test func `where only ASCII can be shown, a code for a phone is drawn in signs of ASCII`() throws {
        let look = Look(theme: .plain, isUnicode: false)
        let screen = try #require(Screens.all.first { $0.name == "empty-live-network" })
        let drawn = ConsoleView.draw(screen.make(Size(width: 120, height: 60), look))
        try Snapshot.check(drawn.text, "empty-live-network-ascii")
    }

    @Test func `the plain theme has no colours`() {
        for screen in Screens.all {
            let drawn = ConsoleView.draw(screen.make(Size(width: 120, height: 40), Look(theme: .plain)))
            let coloured = (0..<40).flatMap { y in (0..<120).map { drawn[$0, y].style } }
                .filter { $0.foreground != .standard || $0.background != .standard }
            #expect(coloured.isEmpty, "\(screen.name)")
        }
    }
}
