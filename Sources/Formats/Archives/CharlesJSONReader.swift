import Content

/// Reads a session that Charles exported as JSON (`.chlsj`): an array of transactions, of any length.
package struct CharlesJSONReader: JSONArchiveReader {
    var json: JSONTokenReader
    let losses: ArchiveLosses
    let textLimit: Int

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        guard try json.next()?.kind == .arrayBegin else { throw json.error("it is no array of transactions") }
        var hasFound = false
        try elements { reader in
            guard let transaction = try reader.transaction() else {
                return reader.losses.add(.init("object{|s} that {is no transaction|are no transactions}"))
            }
            hasFound = true
            try transaction.pass(to: body, reader.losses)
        }
        _ = try json.next()
        if !hasFound, !losses.phrases.isEmpty { throw json.error("there are no transactions of Charles in it") }
    }

    /// Reads a transaction, whose first brace was read; `nil` if it has no host.
    mutating func transaction() throws -> CharlesTransaction? {
        var transaction = CharlesTransaction()
        var isTransaction = false
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("exception", .string) where transaction.errorMessage.isEmpty:
                transaction.errorMessage = reader.json.string(first)
            case ("query", .string):
                let query = reader.json.string(first)
                transaction.query = query.isEmpty ? nil : query
            case (_, .string):
                if name == "host" { isTransaction = true }
                if let text = CharlesTransaction.texts[name] { transaction[keyPath: text] = reader.json.string(first) }
            case (_, .number):
                guard let port = CharlesTransaction.portNames[name] else { return }
                let text = reader.json.text(first)
                transaction[keyPath: port] = reader.losses.whole(text, name, CharlesTransaction.ports)
            case ("tunnel", .literal): transaction.isTunnel = reader.json.text(first) == "true"
            case ("webSocket", .literal): transaction.isWebSocket = reader.json.text(first) == "true"
            case ("times", .objectBegin): transaction.start = try reader.texts("start")["start"] ?? ""
            case ("durations", .objectBegin):
                try reader.members { reader, name, first in
                    guard let amount = reader.amount(first) else { return try reader.json.skip(first) }
                    if transaction.durations.count < 20 { transaction.durations[name] = amount }
                }
            case ("ssl", .objectBegin):
                let tls = try reader.texts("protocol", "cipherSuite")
                transaction.tlsProtocol = tls["protocol"] ?? ""
                transaction.cipherSuite = tls["cipherSuite"] ?? ""
            case ("alpn", .objectBegin): transaction.alpn = try reader.texts("protocol")["protocol"] ?? ""
            case ("request", .objectBegin): try reader.message(&transaction.request)
            case ("response", .objectBegin): try reader.message(&transaction.response)
            default: try reader.json.skip(first)
            }
        }
        return isTransaction ? transaction : nil
    }

    private mutating func message(_ message: inout CharlesTransaction.Message) throws {
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("status", .number):
                let status = reader.losses.whole(reader.json.text(first), name, CharlesTransaction.statuses)
                message.status = status ?? 0
            case ("mimeType", .string): message.mediaType = reader.json.string(first)
            case ("sizes", .objectBegin):
                try reader.members { reader, name, first in
                    guard name == "body", let amount = reader.amount(first) else { return try reader.json.skip(first) }
                    message.size = Int64(amount)
                }
            case ("header", .objectBegin):
                try reader.members { reader, name, first in
                    switch (name, first.kind) {
                    case ("firstLine", .string): message.firstLine = reader.json.string(first)
                    case ("headers", .arrayBegin): try reader.fields(&message)
                    default: try reader.json.skip(first)
                    }
                }
            case ("body", .objectBegin):
                try reader.members { reader, name, first in
                    if first.kind == .string, first.range.count >= reader.textLimit { reader.losses.add(.cutBody) }
                    switch (name, first.kind) {
                    case ("text", .string): message.text = reader.json.string(first)
                    case ("encoded", .string): message.encoded = reader.json.string(first)
                    default: try reader.json.skip(first)
                    }
                }
            default: try reader.json.skip(first)
            }
        }
    }

    private mutating func fields(_ message: inout CharlesTransaction.Message) throws {
        try elements { reader in
            let field = try reader.texts("name", "value")
            message.add((field["name"] ?? "", field["value"] ?? ""), reader.losses)
        }
    }

    private func amount(_ token: JSONToken) -> Double? {
        guard token.kind == .number, let number = Double(json.text(token)), (0...9e12).contains(number) else {
            return nil
        }
        return number
    }
}

extension CharlesJSONReader {
    /// Prepares to read a file; `refill` returns its next piece, and an empty piece at the end.
    package init(textLimit: Int = 64 << 20, losses: ArchiveLosses, refill: @escaping () throws -> [UInt8]) {
        let json = JSONTokenReader(tokenLimit: textLimit, refill: UTF8Pieces.utf8(refill))
        self.init(json: json, losses: losses, textLimit: textLimit)
    }
}
