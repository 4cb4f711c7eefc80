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
        Row(.left, "Close a branch; the page before; to the left", ["left", "h"], do: .plain { $0.moveSideways(-1) })
            .at(texts).onScreen,
        Row(.right, "Open a branch; the next page; to the right", ["right", "l"], do: .plain { $0.moveSideways(1) })
            .at(texts).onScreen,
        Row(.nextExchange, "The exchange below, in the detail", ["space"], do: .plain { $0.step(1) })
            .at([.detail]).short("next").says(.detail).unless(\.noStep),
        Row(.previousExchange, "The exchange above, in the detail", ["backspace"], do: .plain { $0.step(-1) })
            .at([.detail]).says(.detail).unless(\.noStep),
        Row(.open, "Open the exchange, or the fold", ["enter"], .id, do: .with { $0.open($1) })
            .short("open", at: [.list]).says(.detail).unless(\.nothingToOpen),
        Row(.show, "What is known of an exchange, page by page", [], .idAndPage, do: .with { $0.open($1) })
            .onLines.says(.detail).unless(\.noExchange),
        Row(.back, "Back to the list; close", ["esc", "q"], do: .plain { $0.goBack() })
            .at([.detail, .panel, .report]).onScreen,
        Row(.switchView, "Sequence, structure or timeline", ["tab"], .view, do: .with { $0.switchView($1) })
            .short("structure", at: [.list]).says(.counts),
        Row(.follow, "Follow the newest: exchange, or message of what is open", ["F"], do: .plain { $0.toggleFollow() })
            .short("follow", at: [.list]).onScreen.unless(\.noNews),
        Row(.goTo, "Go to an exchange by its number", ["#"], .goal, do: .asking { $0.go(to: $1) })
            .says(.selected).unless(\.noSequence),
    ]
}
