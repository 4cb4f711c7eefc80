extension CommandTable {
    static let moving = [
        Row(.up, "One line up", ["up", "k"]).plain { $0.move(by: -1) }.at(reading).says(.selected),
        Row(.down, "One line down", ["down", "j"]).plain { $0.move(by: 1) }.at(reading).says(.selected),
        Row(.pageUp, "One page up", ["pgup", "ctrl-b"]).plain { $0.movePage(-1) }.at(reading).onScreen,
        Row(.pageDown, "One page down", ["pgdn", "ctrl-f"]).plain { $0.movePage(1) }.at(reading).onScreen,
        Row(.top, "First line", ["home", "g"]).plain { $0.moveToEdge(first: true) }.at(reading).says(.selected),
        Row(.bottom, "Last line; in the list, follow the newest", ["end", "G"]).plain { $0.moveToEdge(first: false) }
            .at(reading).says(.selected),
        Row(.left, "Close branch, previous page, scroll left", ["left", "h"]).plain { $0.moveSideways(-1) }.at(texts)
            .onScreen,
        Row(.right, "Open branch, next page, scroll right", ["right", "l"]).plain { $0.moveSideways(1) }.at(texts)
            .onScreen,
        Row(.nextExchange, "Next exchange", ["space"]).plain { $0.step(1) }.at([.detail]).short("next").says(.detail)
            .unless(\.noStep),
        Row(.previousExchange, "Previous exchange", ["backspace"]).plain { $0.step(-1) }.at([.detail]).says(.detail)
            .unless(\.noStep),
        Row(.open, "Open the exchange, or the fold", ["enter"], .id).with { $0.open($1) }.short("open", at: [.list])
            .says(.detail).unless(\.nothingToOpen),
        Row(.show, "Show an exchange, or one of its pages", [], .idAndPage).with { $0.open($1) }.onLines.says(.detail)
            .unless(\.noExchange),
        Row(.back, "Back to the list; close", ["esc", "q"]).plain { $0.goBack() }.at([.detail, .panel, .report])
            .onScreen,
        Row(.switchView, "Sequence, structure or timeline", ["tab"], .view).with { $0.switchView($1) }
            .short("structure", at: [.list]).says(.counts),
        Row(.follow, "Follow the newest exchange or message", ["F"]).plain { $0.toggleFollow() }
            .short("follow", at: [.list]).onScreen.unless(\.noNews),
        Row(.goTo, "Go to an exchange by its number", ["#"], .goal).asking { $0.go(to: $1) }.says(.selected)
            .unless(\.noSequence),
    ]

    static let looking = [
        Row(.list, "List the last exchanges", [], "[COUNT]").with { $0.listRows($1) }.onLines.says(.rows),
        Row(.filter, "Filter the list", ["/"], .filter).with { $0.openFilter($1) }.at([.list]).short("filter")
            .says(.counts),
        Row(.stats, "Statistics by host", [], "[EXPRESSION]").with { $0.showStatistics($1) }.unless(\.noList),
        Row(.clearFilter, "Clear all filters: filter, search, time and focus", ["\\"]).plain { $0.clearFilter() }
            .says(.counts),
        Row(.searchBodies, "Search in the bodies of all exchanges", ["S"], .bodyText).asking { $0.search($1) }
            .says(.counts),
        Row(.findInDetail, "Find text in the page", ["f", "/"], .shownText).asking { $0.find($1) }.at(texts)
            .only(["/"], at: [.detail, .report]).short("find", at: [.detail]).says(.matches).unless(\.noText),
        Row(.findNext, "Next match; in a comparison, next change", ["n"]).plain { $0.findAgain() }.at(texts)
            .says(.matches).unless(\.noText),
        Row(.findPrevious, "Previous match or change", ["N"]).plain { $0.findAgain(forward: false) }
            .at([.detail, .report]).says(.matches).unless(\.noText),
        Row(.jumpKind, "Choose what to jump to", ["J"], .kind).asking { $0.chooseJump($1) }.short("jump", at: [.list]),
        Row(.next, "Jump to the next", ["]"]).plain { $0.jump(forward: true) }.says(.selected).unless(\.noJump),
        Row(.previous, "Jump to the previous", ["["]).plain { $0.jump(forward: false) }.says(.selected)
            .unless(\.noJump),
        Row(.page, "Choose a page", ["1", "2", "3", "4", "5"], .page).asking { $0.turn(to: $1) }.says(.detail)
            .unless(\.noPage),
        Row(.nextPage, "Next page", [">"]).plain { $0.turnPage(1) }.says(.detail).unless(\.noDetail),
        Row(.previousPage, "Previous page", ["<"]).plain { $0.turnPage(-1) }.says(.detail).unless(\.noDetail),
        Row(.bodyForm, "Body: pretty, raw, hex or undecoded hex", ["v"], .bodyForm).with { $0.setBodyForm($1) }
            .short("raw/hex", at: [.detail]).says(.detail).unless(\.noDetail),
        Row(.version, "Message as received or as sent", ["s"], .version).with { $0.setVersion($1) }
            .short("received/sent", at: [.detail]).says(.detail).unless(\.noDetail),
        Row(.fold, "Fold or unfold a block", ["z", "enter"]).plain { $0.toggleFold() }.at(texts)
            .only(["enter"], at: [.report]).short("fold", at: [.detail]).onScreen.unless(\.noText),
        Row(.foldAll, "Fold all other blocks", ["{"]).plain { $0.fold(all: true) }.at(texts).onScreen.unless(\.noText),
        Row(.unfoldAll, "Unfold all", ["}"]).plain { $0.fold(all: false) }.at(texts).onScreen.unless(\.noText),
        Row(.wrap, "Wrap or cut long lines", ["~"]).plain { $0.toggleWraps() }.at(texts).onScreen.unless(\.noText),
        Row(.layout, "List, list with the exchange, exchange alone", ["-"], .layout).with { $0.setLayout($1) }
            .short("layout", at: [.detail]).onScreen.unless(\.noExchange),
        Row(.sort, "Sort the list by a column", ["o"], .order).asking { $0.sort($1) }.says(.counts).unless(\.noList),
        Row(.columns, "Choose the columns", ["O"], .columns).asking { $0.setColumns($1) },
        Row(.mark, "Mark or unmark the exchange or branch", ["space"], .id).with { $0.mark($1) }.at([.list])
            .short("mark").unless(\.noMark),
        Row(.markAll, "Mark or unmark all shown exchanges", ["*"]).plain { $0.loadNumbers(below: nil) }
            .unless(\.noList),
        Row(.unmarkAll, "Unmark all", ["ctrl-u"]).plain { $0.unmarkAll() }.unless(\.noMarks),
        Row(.showMarked, "Show only marked exchanges, or all", ["%"]).plain { $0.showMarked() }.says(.counts)
            .unless(\.noMarks),
        Row(.focusHost, "Show only this host (focus), or all", ["i"], .host).with { $0.focusHost($1) }.says(.counts)
            .unless(\.noBranch),
        Row(.ignoreHost, "Ignore this host: hidden, still recorded", ["I"], .host).with { $0.ignoreHost($1) }
            .says(.counts).unless(\.noBranch),
        Row(.unignore, "Show an ignored host again", [], .ignored).asking { $0.unignore($1) }.says(.counts)
            .unless(\.noIgnored),
        Row(.highlight, "Colour exchanges that match the filter language", ["V"], .highlight)
            .asking { $0.setHighlight($1) },
        Row(.compare, "Compare with the marked exchange", ["="], "ID [ID]").with { $0.compare($1) }.unless(\.noRecord),
        Row(.why, "Why: what each rule did", ["y"], .id).with { $0.on($1) { .why($0) } }.short("why")
            .unless(\.noRecord),
        Row(.stop, "Stop the running job", ["ctrl-g"]).plain { $0.cancelJobs() }.unless(\.noJob),
    ]
}
