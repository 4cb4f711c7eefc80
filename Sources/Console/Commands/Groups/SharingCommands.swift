extension CommandTable {
    static let share = [
        Row(.copy, "Copy something of the exchange", ["c"], .copyForm, do: .asking { $0.copy($1) })
            .short("copy").unless(\.noRecord),
        Row(.copyCurl, "Copy as cURL", ["C"], .id, do: .with { $0.on($1) { .copy(.curl, $0) } }).unless(\.noRecord),
        Row(.saveBody, "Save a body to a file", ["ctrl-o"], .bodyFile, do: .asking { $0.saveBody($1) })
            .unless(\.noRecord),
        Row(
            .openBody,
            "Open the body in the pager or the system's viewer",
            ["|"],
            .id,
            do: .with { $0.openBody($1) }
        ).unless(\.noRecord),
        Row(.export, "Export the selected, the marked, or all shown", ["E"], .export, do: .asking { $0.export($1) })
            .unless(\.noList),
    ]
}
