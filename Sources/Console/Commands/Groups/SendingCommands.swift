extension CommandTable {
    static let send = [
        Row(
            .repeatRequest,
            "Send the request again",
            ["p"],
            .id,
            do: .with { $0.repeatSelection($1) }
        ).at([.list]).short("repeat").unless(\.noSending),
        Row(.compose, "Edit the request and send it", ["P"], .id, do: .with { $0.on($1) { .openRequest($0) } })
            .at([.list]).unless(\.noSending),
        Row(.repeatAdvanced, "Send it many times", ["A"], .plan, do: .asking { $0.repeatMany($1) })
            .at([.list]).unless(\.noSending),
        Row(
            .newRequest,
            "Write a new request, from nothing, a URL or a cURL command",
            ["ctrl-n"],
            .request,
            do: .with { $0.newRequest($1) }
        ).unless(\.noProxyToSend),
        Row(.requests, "Requests that were sent from here", [], .sent, do: .asking { $0.openSent($1) })
            .unless(\.noSent),
    ]
}
