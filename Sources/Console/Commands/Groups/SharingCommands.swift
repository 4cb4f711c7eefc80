extension CommandTable {
    static let share = [
        Row(.copy, "Copy what is selected or open", ["c"], .copyForm, do: .asking { $0.copy($1) })
            .at([.list, .detail, .report]).short("copy").unless(\.noCopy),
        Row(.copyCurl, "Copy as cURL", ["C"], .id, do: .with { $0.copy($1.map { "curl \($0)" } ?? "curl") })
            .unless(\.noCopy),
        Row(.copyMasked, "Copy the last copy again, its secrets masked", ["Q"], do: .plain { $0.copyMasked() })
            .at([.list, .detail, .report]).unless(\.noCopied),
        Row(.decode, "Show what values may mean: base64, dates", ["^"], do: .plain { $0.toggleDecoding() })
            .at([.detail]).says(.detail).unless(\.noDetail),
        Row(
            .descriptor,
            "Name gRPC fields by a descriptor file",
            [],
            .descriptorFile,
            do: .asking { $0.loadDescriptor($1) }
        ),
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
