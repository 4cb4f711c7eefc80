extension CommandTable {
    static let moving = [
        Row(.up, "One line up", ["up", "k"], do: .plain { $0.move(by: -1) }).at(reading).says(.selected),
        Row(.down, "One line down", ["down", "j"], do: .plain { $0.move(by: 1) }).at(reading).says(.selected),
        Row(.pageUp, "One page up", ["pgup", "ctrl-b"], do: .plain { $0.movePage(-1) }).at(reading).onScreen,
        Row(.pageDown, "One page down", ["pgdn", "ctrl-f"], do: .plain { $0.movePage(1) }).at(reading).onScreen,
        Row(.top, "To the first line", ["home", "g"], do: .plain { $0.moveToEdge(first: true) })
            .at(reading).says(.selected),
        Row(
            .bottom,
            "To the last line; in the list, follow the newest",
            ["end", "G"],
            do: .plain { $0.moveToEdge(first: false) }
        ).at(reading).says(.selected),
        Row(.left, "Close a branch; the page before", ["left", "h"], do: .plain { $0.moveSideways(-1) }).onScreen,
        Row(.right, "Open a branch; the next page", ["right", "l"], do: .plain { $0.moveSideways(1) }).onScreen,
        Row(.open, "Open the exchange, or the fold", ["enter"], .id, do: .with { $0.open($1) })
            .short("open").says(.detail).unless(\.noExchange),
        Row(.show, "What is known of an exchange, page by page", [], .idAndPage, do: .with { $0.open($1) })
            .onLines.says(.detail).unless(\.noExchange),
        Row(.back, "Back to the list; close", ["esc", "q"], do: .plain { $0.goBack() })
            .at([.detail, .panel, .report]).onScreen,
        Row(.switchView, "Sequence, structure or timeline", ["tab"], .view, do: .with { $0.switchView($1) })
            .short("structure").says(.counts),
        Row(.follow, "Follow the newest exchange, or stop", ["F"], do: .plain { $0.toggleFollow() })
            .short("follow").onScreen.unless(\.noNews),
        Row(.goTo, "Go to an exchange by its number", ["#"], .goal, do: .asking { $0.go(to: $1) })
            .says(.selected).unless(\.noSequence),
    ]
}
