import Content
import Foundation
import HTTPModel
import NIOCore

/// Reads a session that Charles exported as XML (`.xml`, `.chlsx`), of any length; its root is `charles-session`.
package struct CharlesXMLReader: ArchiveReader {
    private static let mostFields = 1_000

    private var xml: XMLTokenReader
    private let losses: ArchiveLosses
    private let textLimit: Int

    /// Prepares to read a file that comes in pieces, of which an empty one is the end.
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
            guard name == "transaction" else {
                losses.add(.init("element that is no transaction", "elements that are no transactions"))
                try xml.skip()
                continue
            }
            if let entry = try transaction(attributes).entry(losses) {
                try body(entry)
            } else {
                losses.add(.unreadableURL)
            }
        }
    }

    private func whole(_ name: String, _ attributes: [String: String], _ range: ClosedRange<Int>) -> Int? {
        attributes[name].flatMap { losses.whole($0, name, range) }
    }

    private mutating func transaction(_ attributes: [String: String]) throws -> CharlesTransaction {
        var transaction = CharlesTransaction()
        transaction.method = attributes["method"] ?? ""
        transaction.status = attributes["status"] ?? ""
        transaction.protocolVersion = attributes["protocolVersion"] ?? ""
        transaction.scheme = attributes["protocol"] ?? ""
        transaction.host = attributes["host"] ?? ""
        transaction.port = whole("port", attributes, CharlesTransaction.ports)
        transaction.actualPort = whole("actualPort", attributes, CharlesTransaction.ports)
        transaction.path = attributes["path"] ?? ""
        transaction.query = attributes["query"].flatMap { $0.isEmpty ? nil : $0 }
        transaction.isTunnel = attributes["tunnel"] == "true" || attributes["method"] == "CONNECT"
        transaction.isWebSocket = attributes["webSocket"] == "true"
        transaction.remoteAddress = attributes["remoteAddress"] ?? ""
        transaction.clientAddress = attributes["clientAddress"] ?? ""
        transaction.errorMessage = attributes["errorMessage"] ?? attributes["exception"] ?? ""
        transaction.start = attributes["startTime"] ?? ""
        let millis = { (name: String) in attributes[name].flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil } }
        let start = millis("startTimeMillis")
        transaction.startedAt = start.map { $0 * 1_000 }
        if let start, let end = millis("endTimeMillis"), end >= start { transaction.durations["total"] = end - start }
        if let start, let response = millis("responseTimeMillis"), response >= start {
            transaction.durations["latency"] = response - start
        }
        let depth = xml.depth
        while xml.depth >= depth, let token = try xml.next() {
            guard case .start(let name, let attributes) = token else { continue }
            switch name {
            case "request": try message(&transaction.request, attributes)
            case "response":
                transaction.response.status = whole("status", attributes, CharlesTransaction.statuses) ?? 0
                try message(&transaction.response, attributes)
            default: try xml.skip()
            }
        }
        return transaction
    }

    private mutating func message(_ message: inout CharlesTransaction.Message, _ attributes: [String: String]) throws {
        message.mediaType = attributes["mime-type"] ?? ""
        let depth = xml.depth
        while xml.depth >= depth, let token = try xml.next() {
            guard case .start(let name, let attributes) = token else { continue }
            switch name {
            case "headers": try fields(&message)
            case "body":
                let text = try text(limit: textLimit)
                if attributes["encoding"] == "base64" { message.encoded = text } else { message.text = text }
            default: try xml.skip()
            }
        }
    }

    private mutating func fields(_ message: inout CharlesTransaction.Message) throws {
        let depth = xml.depth
        while xml.depth >= depth, let token = try xml.next() {
            guard case .start(let name, _) = token else { continue }
            switch name {
            case "first-line": message.firstLine = try text(limit: 64 << 10)
            case "header":
                var field = (name: "", value: "")
                let inner = xml.depth
                while xml.depth >= inner, let token = try xml.next() {
                    guard case .start(let name, _) = token else { continue }
                    switch name {
                    case "name": field.name = try text(limit: 64 << 10)
                    case "value": field.value = try text(limit: 1 << 20)
                    default: try xml.skip()
                    }
                }
                if message.fields.count < CharlesXMLReader.mostFields {
                    message.fields.append(field)
                } else {
                    losses.add(.field)
                }
            default: try xml.skip()
            }
        }
    }

    /// The text of the element whose start was just read, and of what is in it.
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
