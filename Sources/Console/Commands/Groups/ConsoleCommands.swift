extension CommandTable {
    static let console = [
        Row(.palette, "All commands", [":", "ctrl-p"], do: .plain { $0.push(.picker($0.palette)) })
            .short("commands").onScreen,
        Row(.help, "Help for what is open", ["?", "f1"], .command, do: .with { $0.openHelp($1) })
            .at(Set(Context.allCases)).short("help"),
        Row(.guide, "Read the guide", [], .topic, do: .with { $0.openGuide($1) })
            .at(Set(Context.allCases)),
        Row(
            .trust,
            "How to point a client at the proxy and trust it",
            ["!"],
            do: .plain { $0.openTrust() }
        ),
        Row(.messages, "What Sluice had to say", ["@"], do: .plain { $0.openMessages() }),
        Row(.status, "How the proxy is, and what the list shows", do: .plain { $0.openStatus() }).onLines,
        Row(.quiet, "Say nothing of new exchanges", do: .plain { $0.tellExchanges(false) }).onLines,
        Row(.verbose, "Say one sentence for each exchange that has ended", do: .plain { $0.tellExchanges(true) })
            .onLines,
        Row(.theme, "Dark or light", [], .theme, do: .asking { $0.setTheme($1) }).onScreen,
        Row(.openSession, "Open another session here", ["Y"], .session, do: .asking { $0.openSession($1) }),
        Row(.backToLive, "Back from an opened session", do: .plain { _ in [.backToLive] }).unless(\.noHome),
        Row(.mouse, "Use the mouse, or leave it to the terminal", [], .onOff, do: .with { $0.setMouse($1) }).onScreen,
        Row(.resetView, "Forget columns, order, theme, focus and highlights", do: .plain { $0.resetView() })
            .asks("Forget columns, order, theme, focus, highlights and all else that you set up here?").onScreen,
        Row(.redraw, "Draw the screen anew", ["ctrl-l"], do: .plain { _ in [.terminal(.redraw)] })
            .at(Set(Context.allCases)).onScreen,
        Row(.suspend, "Suspend to the shell, and the proxy with it", ["ctrl-z"], do: .plain { _ in [.terminal(.suspend)] })
            .at(Set(Context.allCases)).onScreen,
        Row(.quit, "Quit", ["q", "ctrl-c"], do: .plain { $0.quit() }).at([.list]).short("quit"),
    ]
}
