import Content
package import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules

/// A held message as a text to edit: start line, fields, an empty line, the decoded body.
///
/// A request has an absolute URL; its edits change the destination. Content-Length, Transfer-Encoding are omitted.
package struct HoldDraft {
    let fullHead: String
    package let text: String
    private let message: HeldMessage
    private let body: DraftBody

    private enum DraftBody {
        /// `addedEnd` is the line break that editors add at the end; it is not part of the body.
        case text(String, addedEnd: String)
        case placeholder(String)
    }

    package init(_ message: HeldMessage) {
        self.message = message
        let start =
            switch message {
            case .request(let head, _, let destination): "\(head.method) \(destination.url(of: head)) \(head.version)"
            case .response(let head, _): "\(head.version) \(head.status) \(head.reason)"
            }
        func text(_ fields: [HoldEdit.Pair]) -> String { fields.map { "\($0.name): \($0.value)\n" }.joined() }
        fullHead = start + "\n" + text(message.fields.map { HoldEdit.Pair($0.name, $0.value) })
        body = HoldDraft.body(of: message)
        let shown =
            switch body {
            case .text(let text, let addedEnd): text + addedEnd
            case .placeholder(let line): line + "\n"
            }
        self.text = start + "\n" + text(message.editableFields) + "\n" + shown
    }

    private static func body(of message: HeldMessage) -> DraftBody {
        guard let content = HoldContent(message) else { return .placeholder("<<the body is not held>>") }
        let size = "\(content.bytes.readableBytes) bytes"
        guard content.bytes.readableBytes <= ControlProtocol.longestShownBody else {
            return .placeholder("<<a body of \(size): leave this line to keep it>>")
        }
        if let text = content.text { return .text(text, addedEnd: addedEnd(text)) }
        return .placeholder("<<a body of \(size) that is not UTF-8 text: leave this line to keep it>>")
    }

    /// The line break that the text lacks at its end, in the style of its first line break.
    private static func addedEnd(_ text: String) -> String {
        guard let last = text.utf8.last, last != UInt8(ascii: "\n") else { return "" }
        let lineFeed = text.utf8.firstIndex(of: UInt8(ascii: "\n"))
        return lineFeed.map { text.utf8[..<$0].last == UInt8(ascii: "\r") } == true ? "\r\n" : "\n"
    }

    /// Reads the edited text; throws ``ControlError`` with the number of the wrong line. Lines at the top that begin
    /// with `#` are ignored. Unedited lines of the head keep their bytes.
    package func apply(_ edited: String) throws(ControlError) -> HeldMessage {
        var reader = LineReader(edited)
        while reader.rest.first == UInt8(ascii: "#") { _ = reader.next() }
        // Unedited text returns the message unchanged, even if the text cannot be parsed (a target that is not a URL).
        guard !reader.rest.elementsEqual(text.utf8) else { return message }
        let first = reader.number + 1
        guard let start = reader.next(), !start.isEmpty else {
            throw ControlError("line \(first): the message's first line is missing")
        }
        let known = message.editableFields
        var message = try reader.naming { () throws(ControlError) in try self.message.withStartLine(start) }
        var fields: [HoldEdit.Pair] = []
        while let line = reader.next(), !line.isEmpty {
            fields.append(try reader.naming { () throws(ControlError) in try HoldDraft.field(line, known: known) })
        }
        if fields != known { replaceFields(fields, of: &message) }
        try replaceBody(Substring(reader.rest), of: &message)
        return message
    }

    /// An unedited line is not checked.
    private static func field(_ line: Substring, known: [HoldEdit.Pair]) throws(ControlError) -> HoldEdit.Pair {
        guard let colon = line.firstIndex(of: ":") else {
            let hint = "An empty line ends the head."
            throw ControlError("a header field needs a colon: '\(line.prefix(60))'", hint: hint)
        }
        let pair = HoldEdit.Pair(String(line[..<colon]), line[line.index(after: colon)...].trimmingBlanks)
        if !known.contains(pair) { try HeaderRules.check(pair) }
        return pair
    }

    /// An unedited field keeps its bytes. A field that is not shown (Content-Length) keeps its position.
    private func replaceFields(_ pairs: [HoldEdit.Pair], of edited: inout HeldMessage) {
        let old = message.fields
        var unused = old.indices.filter { !HeaderRules.isFraming(old[$0]) }
        var lines: [(name: String, value: [UInt8])] = pairs.map { pair in
            let place = unused.firstIndex { old[$0].name == pair.name && old[$0].value == pair.value }
            return (pair.name, place.map { Array(old[unused.remove(at: $0)].valueBytes) } ?? Array(pair.value.utf8))
        }
        for (index, field) in old.enumerated() where HeaderRules.isFraming(field) {
            lines.insert((field.name, Array(field.valueBytes)), at: min(index, lines.count))
        }
        // An unedited Host field gets the host of the edited URL.
        let hosts = pairs.filter { FieldName($0.name) == .host }.map(\.value)
        let host = hosts == old.values(of: .host) ? edited.fields.value(of: .host) : nil
        var fields = edited.fields
        for index in fields.indices.reversed() { fields.remove(at: index) }
        for line in lines { fields.append(line.name, bytes: line.value) }
        if let host, fields.value(of: .host) != host { fields.set("Host", host) }
        edited.fields = fields
    }

    private func replaceBody(_ edited: Substring, of message: inout HeldMessage) throws(ControlError) {
        switch body {
        case .placeholder(let line):
            let text = edited.trimmingBlanks
            if text == line || message.body == nil && text.isEmpty { return }
            guard message.body == nil || !HoldDraft.placeholderParts.contains(where: { text.contains($0) }) else {
                throw ControlError(
                    "The line in place of the body was changed: leave it to keep the body, or remove all of it.",
                    hint: "The line is \(line)"
                )
            }
            try message.setDecodedBody(ByteBuffer(substring: edited))
        case .text(let old, let addedEnd):
            var new = edited.utf8
            if !addedEnd.isEmpty, new.last == UInt8(ascii: "\n") {
                new.removeLast()
                if addedEnd.utf8.count > 1, new.last == UInt8(ascii: "\r") { new.removeLast() }
            }
            if !new.elementsEqual(old.utf8) { try message.setDecodedBody(ByteBuffer(bytes: new)) }
        }
    }

    /// Parts of the placeholder. A text with one of them is a changed placeholder, not a new body.
    private static let placeholderParts = [
        "<<a body of ", "bytes that is not UTF-8 text: ", ": leave this line", "to keep it>>",
    ]
}

extension HeldMessage {
    fileprivate var editableFields: [HoldEdit.Pair] {
        fields.filter { !HeaderRules.isFraming($0) }.map { HoldEdit.Pair($0.name, $0.value) }
    }

    /// `GET https://host/path HTTP/1.1`, whose version is optional and ignored, or `HTTP/1.1 404 Not Found`.
    fileprivate func withStartLine(_ line: Substring) throws(ControlError) -> HeldMessage {
        switch self {
        case .request(let head, let body, let destination):
            var words = line.split(separator: " ")
            if words.count > 2, words[words.count - 1].hasPrefix("HTTP/") { words.removeLast() }
            guard words.count == 2 else {
                throw ControlError(
                    "the first line of a request has a method and a URL: '\(line.prefix(80))'",
                    hint: "For example: GET https://host/path HTTP/1.1; a space in a URL is written %20."
                )
            }
            var request = HeldRequest(head: head, destination: destination)
            if words[0] != head.method { try request.setMethod(String(words[0])) }
            try request.setURL(String(words[1]))
            return .request(request.head, body: body, destination: request.destination)
        case .response(var head, let body):
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
                throw ControlError(
                    "the first line of a response needs a version and a status, and is '\(line.prefix(80))'",
                    hint: "For example: HTTP/1.1 404 Not Found"
                )
            }
            let reason = words.count > 2 ? words[2].trimmingBlanks : ""
            guard reason.isFieldValue else { throw ControlError("the reason phrase has control characters") }
            let isReasonEdited = reason != head.reason
            if status != head.status || isReasonEdited { try head.setStatus(status) }
            if isReasonEdited { head.reason = reason }
            return .response(head, body: body)
        }
    }
}

/// Lines end with LF or CRLF.
private struct LineReader {
    /// As bytes, because Swift treats CRLF as one character.
    private(set) var rest: Substring.UTF8View
    /// The number of the last line that was read, from 1.
    private(set) var number = 0

    init(_ text: String) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        rest = text.utf8.dropFirst(text.utf8.starts(with: byteOrderMark) ? byteOrderMark.count : 0)
    }

    /// The next line, without its line break.
    mutating func next() -> Substring? {
        guard !rest.isEmpty else { return nil }
        number += 1
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[line.endIndex...].dropFirst()
        return Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }

    /// Adds the number of the last line to errors.
    func naming<Value>(_ body: () throws(ControlError) -> Value) throws(ControlError) -> Value {
        do {
            return try body()
        } catch {
            throw ControlError("line \(number): \(error.message)", hint: error.hint)
        }
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: String { trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\u{0B}\u{0C}\r")) }
}
