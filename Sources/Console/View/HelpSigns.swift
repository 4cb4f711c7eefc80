import Sharing

/// What the signs and colours of the list mean; no colour says more than a sign beside it.
enum HelpSigns {
    private typealias Row = (sign: String, role: Role, text: String)

    static func lines(_ look: Look) -> [DetailLine] {
        sections(look).flatMap { title, rows in
            [DetailLine([Span(title, .heading)])]
                + rows.flatMap { HelpDocument.row(Span($0.sign, $0.role), $0.text) } + [DetailLine([])]
        }
    }

    /// With few colours, or none, attributes stand in for backgrounds.
    private static func sections(_ look: Look) -> [(String, [Row])] {
        let hasColours = look.theme.hasColours
        let underlined = hasColours ? "" : "; its row is underlined"
        return [
            (
                "Before the number",
                [
                    ("*", .faint, "marked"), ("↻ r", .faint, "sent from this console"),
                    ("\"", .faint, "it has a comment"),
                    ("r o y g b p", .faint, "coloured red, orange, yellow, green, blue, purple\(underlined)"),
                    ("2:", .faint, "highlight 2 fits; its row \(hasColours ? "has a colour too" : "is underlined")"),
                    (">", .text, "the selected row, where there are no colours"),
                ]
            ),
            (
                "STATUS",
                [
                    ("200", .success, "the server's answer"), ("302", .redirect, "a redirect"),
                    ("404", .clientError, "an error of the request"), ("500", .serverError, "an error of the server"),
                    ("rpc0", .success, "a gRPC call, with its own status; 0 is OK"),
                    ("rpc14", .serverError, "a gRPC call that failed, with its own status"),
                    (
                        "200~", .changed,
                        "a rule changed the request or the response, or answered in place of the server"
                    ),
                    ("403#", .warning, "a rule denied it, and this was the answer"),
                    ("denied", .warning, "a rule denied it without an answer"),
                    ("200!", .failure, "it failed after the answer had begun"),
                    ("failed", .failure, "it failed without an answer; y says why"),
                    ("…  200…", .changed, "on its way: no answer yet, or its body still comes"),
                    ("held", .changed, "waits at a breakpoint"), ("cut", .failure, "the recording ended before it did"),
                    ("-", .faint, "there is no status: a tunnel"),
                ]
            ),
            (
                "Elsewhere",
                [
                    ("+", .text, "before the host: TLS; where there is room, the URL's scheme is there"),
                    ("▲ ▼", .label, "sorted by that column, smallest or largest first"),
                    ("›2  >2", .warning, "right of the titles: two more columns were asked for and have no room"),
                    ("▸ ▾", .text, "folded, unfolded"), ("1.2 s", .warning, "a time of a second or more"),
                    (
                        "▬", .link,
                        "from its start to its end, on the scale of the rows on the screen; pauses are shortened"
                    ),
                    ("▁▂▅█", .text, "exchanges each second, the newest at the right"),
                    ("(…)", .text, "in PATH: what there is in place of a request, as a tunnel that was not decrypted"),
                ]
            ),
        ]
    }
}
