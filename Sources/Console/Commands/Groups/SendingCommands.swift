extension CommandTable {
    static let send = [
        Row(.repeatRequest, "Send the request again", ["p"], .id, do: .with { $0.on($1) { .send(draft: "", $0) } })
            .at([.list]).short("repeat").unless(\.noSending),
        Row(.compose, "Edit the request and send it", ["P"], .id, do: .with { $0.on($1) { .openRequest($0) } })
            .at([.list]).unless(\.noSending),
        Row(.repeatAdvanced, "Send it many times", ["A"], .plan, do: .asking { $0.repeatMany($1) })
            .at([.list]).unless(\.noSending),
    ]
}
