extension CommandTable {
    static let session = [
        Row(.delete, "Delete the exchange, the marked, or a branch", ["d"], .ids, do: .with { $0.delete($1) })
            .says(.counts).unless(\.noEditing),
        Row(.clear, "Clear the list: delete all that it shows", ["Z"], do: .plain { $0.clearList() })
            .says(.counts).unless(\.noClearing),
        Row(.undo, "Undo the last change of rules, a deletion, a comment or a colour", ["u"], do: .plain { $0.undo() })
            .at([.list, .detail, .panel]).unless(\.noUndo),
        Row(.comment, "Comment the exchange, or the marked", [";"], .comment, do: .asking { $0.comment($1) })
            .unless(\.noEditing),
        Row(.colour, "Give the exchange a colour, or the marked", [","], .colour, do: .asking { $0.colour($1) })
            .unless(\.noEditing),
        Row(.record, "Record, or let pass unrecorded", ["ctrl-r"], .onOff, do: .with { $0.setRecording($1) })
            .unless(\.noSteering),
        Row(
            .saveSession,
            "Save the session under another name",
            ["ctrl-w"],
            .sessionFile,
            do: .asking { $0.saveSession($1) }
        ).unless(\.noSession),
        Row(
            .importSession,
            "Import exchanges of another file into this session",
            [],
            .imported,
            do: .asking { $0.importSession($1) }
        ).unless(\.noImport),
    ]
}
