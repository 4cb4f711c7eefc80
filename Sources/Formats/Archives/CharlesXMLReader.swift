import Content

/// Reads a session that Charles exported as XML (`.xml`, `.chlsx`), of any length; its root is `charles-session`.
package struct CharlesXMLReader: ArchiveReader {
    private var xml: XMLTokenReader
    private let losses: ArchiveLosses
    private let textLimit: Int

    /// Prepares to read a file; `refill` returns its next piece, and an empty piece at the end.
    package init(textLimit: Int = 64 << 20, losses: ArchiveLosses, refill: @escaping () throws -> [UInt8]) {
        xml = XMLTokenReader(refill: UTF8Pieces.utf8(refill))
        (self.textLimit, self.losses) = (textLimit, losses)
    }

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        guard case .start("charles-session", _)? = try xml.next() else {
            throw xml.error("its outermost element is not 'charles-session'")
        }
        while let token = try xml.next() {
            guard case .start(let name, let attributes) = token else { continue }
            if name == "transaction" {
                try transaction(attributes).pass(to: body, losses)
            } else {
                losses.add(.init("element{|s} that {is no transaction|are no transactions}"))
                try xml.skip()
            }
        }
    }

    /// Calls `body` with each element in the current one and its attributes; skips it if `body` returns `false`.
    private mutating func elements(_ body: (inout Self, String, [String: String]) throws -> Bool) throws {
        let depth = xml.depth
        while xml.depth >= depth, let token = try xml.next() {
            guard case .start(let name, let attributes) = token else { continue }
            if try !body(&self, name, attributes) { try xml.skip() }
        }
    }

    private func whole(_ name: String, _ attributes: [String: String], _ range: ClosedRange<Int>) -> Int? {
        attributes[name].flatMap { losses.whole($0, name, range) }
    }

    private mutating func transaction(_ attributes: [String: String]) throws -> CharlesTransaction {
        var transaction = CharlesTransaction()
        for (name, text) in CharlesTransaction.texts { transaction[keyPath: text] = attributes[name] ?? "" }
        transaction.scheme = attributes["protocol"] ?? ""
        transaction.port = whole("port", attributes, CharlesTransaction.ports)
        transaction.actualPort = whole("actualPort", attributes, CharlesTransaction.ports)
        transaction.query = attributes["query"].flatMap { $0.isEmpty ? nil : $0 }
        transaction.isTunnel = attributes["tunnel"] == "true" || attributes["method"] == "CONNECT"
        transaction.isWebSocket = attributes["webSocket"] == "true"
        transaction.errorMessage = attributes["errorMessage"] ?? attributes["exception"] ?? ""
        transaction.notes = ""
        transaction.start = attributes["startTime"] ?? ""
        let millis = { (name: String) in attributes[name].flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil } }
        if let start = millis("startTimeMillis") {
            transaction.startedAt = start * 1_000
            for (name, end) in [("total", "endTimeMillis"), ("latency", "responseTimeMillis")] {
                if let end = millis(end), end >= start { transaction.durations[name] = end - start }
            }
        }
        try elements { reader, name, attributes in
            switch name {
            case "request": try reader.message(&transaction.request, attributes)
            case "response":
                let status = reader.whole("status", attributes, CharlesTransaction.statuses)
                transaction.response.status = status ?? 0
                try reader.message(&transaction.response, attributes)
            default: return false
            }
            return true
        }
        return transaction
    }

    private mutating func message(_ message: inout CharlesTransaction.Message, _ attributes: [String: String]) throws {
        message.mediaType = attributes["mime-type"] ?? ""
        try elements { reader, name, attributes in
            switch name {
            case "headers": try reader.fields(&message)
            case "body":
                let text = try reader.text(limit: reader.textLimit)
                if attributes["encoding"] == "base64" { message.encoded = text } else { message.text = text }
            default: return false
            }
            return true
        }
    }

    private mutating func fields(_ message: inout CharlesTransaction.Message) throws {
        try elements { reader, name, _ in
            switch name {
            case "first-line": message.firstLine = try reader.text(limit: 64 << 10)
            case "header":
                var field = (name: "", value: "")
                try reader.elements { reader, name, _ in
                    switch name {
                    case "name": field.name = try reader.text(limit: 64 << 10)
                    case "value": field.value = try reader.text(limit: 1 << 20)
                    default: return false
                    }
                    return true
                }
                message.add(field, reader.losses)
            default: return false
            }
            return true
        }
    }

    /// The text of the element whose start was just read, and of the elements in it.
    private mutating func text(limit: Int) throws -> String {
        var text = ""
        var isCut = false
        let depth = xml.depth
        while xml.depth >= depth, let token = try xml.next() {
            guard case .text(let part) = token else { continue }
            if text.utf8.count + part.utf8.count <= limit, !isCut { text += part } else { isCut = true }
        }
        if isCut { losses.add(.cutBody) }
        return text
    }
}
