import Content
import Foundation
import HTTPModel

/// Reads a session that Charles exported as JSON (`.chlsj`): an array of transactions, of any length.
package struct CharlesJSONReader: ArchiveReader {
    private static let mostFields = 1_000

    private var json: JSONTokenReader
    private let losses: ArchiveLosses
    private let textLimit: Int

    /// Prepares to read a file that comes in pieces, of which an empty one is the end.
    package init(textLimit: Int = 64 << 20, losses: ArchiveLosses, refill: @escaping () throws -> [UInt8]) {
        json = JSONTokenReader(tokenLimit: textLimit, refill: UTF8Pieces.utf8(refill))
        (self.textLimit, self.losses) = (textLimit, losses)
    }

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        guard try json.next()?.kind == .arrayBegin else { throw json.error("it is no array of transactions") }
        let (losses, textLimit) = (losses, textLimit)
        var hasFound = false
        try json.elements(losses) { json in
            guard let transaction = try CharlesJSONReader.transaction(&json, losses, textLimit) else {
                return losses.add(.init("object that is no transaction", "objects that are no transactions"))
            }
            hasFound = true
            if let entry = transaction.entry(losses) { try body(entry) } else { losses.add(.unreadableURL) }
        }
        _ = try json.next()
        if !hasFound, !losses.phrases.isEmpty { throw json.error("there are no transactions of Charles in it") }
    }

    /// Reads a transaction, whose first brace was read; `nil` where it has no method, host or request.
    static func transaction(
        _ json: inout JSONTokenReader,
        _ losses: ArchiveLosses,
        _ textLimit: Int
    ) throws -> CharlesTransaction? {
        var transaction = CharlesTransaction()
        var isTransaction = false
        try json.members { json, name, first in
            switch (name, first.kind) {
            case ("method", .string): transaction.method = json.string(first)
            case ("status", .string): transaction.status = json.string(first)
            case ("protocolVersion", .string): transaction.protocolVersion = json.string(first)
            case ("scheme", .string): transaction.scheme = json.string(first)
            case ("host", .string):
                transaction.host = json.string(first)
                isTransaction = true
            case ("port", .number): transaction.port = losses.whole(json.text(first), name, CharlesTransaction.ports)
            case ("actualPort", .number):
                transaction.actualPort = losses.whole(json.text(first), name, CharlesTransaction.ports)
            case ("path", .string): transaction.path = json.string(first)
            case ("query", .string):
                let query = json.string(first)
                transaction.query = query.isEmpty ? nil : query
            case ("tunnel", .literal): transaction.isTunnel = json.text(first) == "true"
            case ("webSocket", .literal): transaction.isWebSocket = json.text(first) == "true"
            case ("remoteAddress", .string): transaction.remoteAddress = json.string(first)
            case ("clientAddress", .string): transaction.clientAddress = json.string(first)
            case ("clientPort", .number):
                transaction.clientPort = losses.whole(json.text(first), name, CharlesTransaction.ports)
            case ("errorMessage", .string): transaction.errorMessage = json.string(first)
            case ("exception", .string) where transaction.errorMessage.isEmpty:
                transaction.errorMessage = json.string(first)
            case ("notes", .string): transaction.notes = json.string(first)
            case ("times", .objectBegin):
                try json.members { json, name, first in
                    guard name == "start", first.kind == .string else { return try json.skip(first) }
                    transaction.start = json.string(first)
                }
            case ("durations", .objectBegin):
                try json.members { json, name, first in
                    guard let amount = json.amount(first) else { return try json.skip(first) }
                    if transaction.durations.count < 20 { transaction.durations[name] = amount }
                }
            case ("ssl", .objectBegin):
                try json.members { json, name, first in
                    switch (name, first.kind) {
                    case ("protocol", .string): transaction.tlsProtocol = json.string(first)
                    case ("cipherSuite", .string): transaction.cipherSuite = json.string(first)
                    default: try json.skip(first)
                    }
                }
            case ("alpn", .objectBegin):
                try json.members { json, name, first in
                    guard name == "protocol", first.kind == .string else { return try json.skip(first) }
                    transaction.alpn = json.string(first)
                }
            case ("request", .objectBegin): try message(&json, &transaction.request, losses, textLimit)
            case ("response", .objectBegin): try message(&json, &transaction.response, losses, textLimit)
            default: try json.skip(first)
            }
        }
        return isTransaction ? transaction : nil
    }

    private static func message(
        _ json: inout JSONTokenReader,
        _ message: inout CharlesTransaction.Message,
        _ losses: ArchiveLosses,
        _ textLimit: Int
    ) throws {
        try json.members { json, name, first in
            switch (name, first.kind) {
            case ("status", .number):
                message.status = losses.whole(json.text(first), name, CharlesTransaction.statuses) ?? 0
            case ("mimeType", .string): message.mediaType = json.string(first)
            case ("sizes", .objectBegin):
                try json.members { json, name, first in
                    guard name == "body", let amount = json.amount(first) else { return try json.skip(first) }
                    message.size = Int64(amount)
                }
            case ("header", .objectBegin):
                try json.members { json, name, first in
                    switch (name, first.kind) {
                    case ("firstLine", .string): message.firstLine = json.string(first)
                    case ("headers", .arrayBegin): try fields(&json, &message.fields, losses)
                    default: try json.skip(first)
                    }
                }
            case ("body", .objectBegin):
                try json.members { json, name, first in
                    if first.kind == .string, first.range.count >= textLimit { losses.add(.cutBody) }
                    switch (name, first.kind) {
                    case ("text", .string): message.text = json.string(first)
                    case ("encoded", .string): message.encoded = json.string(first)
                    default: try json.skip(first)
                    }
                }
            default: try json.skip(first)
            }
        }
    }

    private static func fields(
        _ json: inout JSONTokenReader,
        _ fields: inout [(name: String, value: String)],
        _ losses: ArchiveLosses
    ) throws {
        try json.elements(losses) { json in
            var field = (name: "", value: "")
            try json.members { json, name, first in
                switch (name, first.kind) {
                case ("name", .string): field.name = json.string(first)
                case ("value", .string): field.value = json.string(first)
                default: try json.skip(first)
                }
            }
            if fields.count < mostFields { fields.append(field) } else { losses.add(.field) }
        }
    }
}
