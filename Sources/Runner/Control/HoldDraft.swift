import Content
import ExchangeCore
import HTTPModel
import NIOCore

/// A held message as a text that can be edited whole: start line, fields, an empty line, the body decoded.
///
/// The first line of a request has the absolute URL, so that the place to send it to can be edited. Content-Length and
/// Transfer-Encoding are left out, since they follow from the body.
struct HoldDraft {
    private let message: HeldMessage
    let fullHead: String
    let text: String
    private let body: DraftBody

    /// What stands in the text for a body.
    private enum DraftBody {
        /// The body, and what ends its last line in the text where the body itself does not: editors end it.
        case text(String, addedEnd: String)
        /// A line that stands for a body that cannot be shown.
        case placeholder(String)
    }

    init(_ message: HeldMessage) {
        self.message = message
        let start =
            switch message {
            case .request(let head, _, let destination):
                "\(head.method) \(destination.url(of: head)) \(head.version)"
            case .response(let head, _): "\(head.version) \(head.status) \(head.reason)"
            }
        func lines(_ isShown: (FieldName) -> Bool) -> String {
            message.fields.filter { isShown(FieldName($0.name)) }.map { "\($0.name): \($0.value)\n" }.joined()
        }
        fullHead = start + "\n" + lines { _ in true }
        body = HoldDraft.body(of: message)
        let shown =
            switch body {
            case .text(let text, let addedEnd): text + addedEnd
            case .placeholder(let line): line + "\n"
            }
        text = start + "\n" + lines { !HeaderRules.framing.contains($0) } + "\n" + shown
    }

    private static func body(of message: HeldMessage) -> DraftBody {
        guard let content = HoldContent(message) else {
            return .placeholder("<<the body is not held: it streams on>>")
        }
        let size = "\(content.bytes.readableBytes) bytes"
        guard content.bytes.readableBytes <= ControlProtocol.longestShownBody else {
            return .placeholder("<<a body of \(size): leave this line to keep it>>")
        }
        if let text = content.text { return .text(text, addedEnd: addedEnd(text)) }
        return .placeholder("<<a body of \(size) that is no UTF-8 text: leave this line to keep it>>")
    }

    /// What ends the last line where nothing does: what ends the others.
    private static func addedEnd(_ text: String) -> String {
        guard let last = text.utf8.last, last != UInt8(ascii: "\n") else { return "" }
        let lineFeed = text.utf8.firstIndex(of: UInt8(ascii: "\n"))
        return lineFeed.map { text.utf8[..<$0].last == UInt8(ascii: "\r") } == true ? "\r\n" : "\n"
    }

    // MARK: - Taking it back

    /// Reads the text after it was edited.
    ///
    /// Lines at the top that begin with `#` are left out. Lines of the head that were not touched keep their bytes.
    ///
    /// - Returns: the message as edited.
    /// - Throws: ``ControlFailure`` that says in which line what is wrong.
    func apply(_ edited: String) throws(ControlFailure) -> HeldMessage {
        var reader = LineReader(edited)
        while reader.peekIsComment { _ = reader.next() }
        // Also what no editing would take back, such as a target that is no URL, goes on as it is.
        guard !reader.rest.utf8.elementsEqual(text.utf8) else { return message }
        let first = reader.number
        guard let start = reader.next(), !start.text.isEmpty else {
            throw ControlFailure("line \(first): the message's first line is missing")
        }
        let known = shownFields
        var pairs: [HoldEdit.Pair] = []
        while let line = reader.next(), !line.text.isEmpty {
            pairs.append(try HoldDraft.field(line, known: known))
        }
        var message = try self.message.withStartLine(start, at: start.number)
        if pairs != known { message = replaceFields(pairs, of: message, keepsHost: hostChanged(pairs)) }
        try replaceBody(String(reader.rest), of: &message)
        return message
    }

    /// The fields that are edited: all but lengths.
    private var shownFields: [HoldEdit.Pair] {
        message.fields.map { HoldEdit.Pair($0.name, $0.value) }.filter {
            !HeaderRules.framing.contains(FieldName($0.name))
        }
    }

    /// Reads a field line; one that was there before may be odd.
    private static func field(
        _ line: LineReader.Line,
        known: [HoldEdit.Pair]
    ) throws(ControlFailure) -> HoldEdit.Pair {
        guard let colon = line.text.firstIndex(of: ":") else {
            throw ControlFailure(
                "line \(line.number): a header field needs a colon: '\(line.text.prefix(60))'",
                hint: "An empty line ends the head."
            )
        }
        let value = line.text[line.text.index(after: colon)...].trimmingBlanks
        let pair = HoldEdit.Pair(String(line.text[..<colon]), String(value))
        guard !known.contains(pair) else { return pair }
        do {
            try HeaderRules.check(pair)
        } catch {
            throw ControlFailure("line \(line.number): \(error.message)", hint: error.hint)
        }
        return pair
    }

    /// Whether the Host field is not the one that was there, so that it is what the user wants.
    private func hostChanged(_ pairs: [HoldEdit.Pair]) -> Bool {
        let host = FieldName("host")
        return pairs.filter { FieldName($0.name) == host }.map(\.value) != message.fields.values(of: host)
    }

    /// Gives the message the fields as edited; those that stand there as before keep their bytes.
    private func replaceFields(
        _ pairs: [HoldEdit.Pair],
        of edited: HeldMessage,
        keepsHost: Bool
    ) -> HeldMessage {
        let old = message.fields
        let isShown = old.map { !HeaderRules.framing.contains(FieldName($0.name)) }
        var unused = old.indices.filter { isShown[$0] }
        var lines: [(name: [UInt8], value: [UInt8])] = pairs.map { pair in
            if let place = unused.firstIndex(where: { old[$0].name == pair.name && old[$0].value == pair.value }) {
                let field = old[unused.remove(at: place)]
                return (Array(field.nameBytes), Array(field.valueBytes))
            }
            return (Array(pair.name.utf8), Array(pair.value.utf8))
        }
        for index in old.indices where !isShown[index] {
            lines.insert((Array(old[index].nameBytes), Array(old[index].valueBytes)), at: min(index, lines.count))
        }
        var message = edited
        let host = keepsHost ? nil : edited.fields.value(of: .host)
        message.replaceFields(lines)
        // A Host field that nobody touched follows the URL.
        if let host, message.fields.value(of: .host) != host { message.fields.set("Host", host) }
        return message
    }

    private func replaceBody(_ edited: String, of message: inout HeldMessage) throws(ControlFailure) {
        switch body {
        case .placeholder(let line):
            let text = edited.trimmingBlanks
            let isKept = text == line[...] || message.body == nil && text.isEmpty
            guard !isKept else { return }
            guard message.body == nil || !HoldDraft.placeholderParts.contains(where: { text.contains($0) }) else {
                throw ControlFailure(
                    "The line that stands for the body was changed: leave it alone to keep the body, or remove all of it.",
                    hint: "The line is \(line)"
                )
            }
            try message.setDecodedBody(ByteBuffer(string: edited))
        case .text(let old, let addedEnd):
            var new = edited.utf8[...]
            if !addedEnd.isEmpty, new.last == UInt8(ascii: "\n") {
                new.removeLast()
                if addedEnd.utf8.count > 1, new.last == UInt8(ascii: "\r") { new.removeLast() }
            }
            if !new.elementsEqual(old.utf8) { try message.setDecodedBody(ByteBuffer(bytes: new)) }
        }
    }

    /// Each stands in the line of a body that is kept; a text with one of them was meant to be that line.
    private static let placeholderParts = [
        "<<a body of ", "bytes that is no UTF-8 text: ", ": leave this line", "to keep it>>",
    ]
}

extension HeldMessage {
    /// Reads an edited start line.
    fileprivate func withStartLine(_ line: LineReader.Line, at number: Int) throws(ControlFailure) -> HeldMessage {
        do {
            switch self {
            case .request(let head, let body, let destination):
                var request = HeldRequest(head: head, destination: destination)
                let (method, url) = try HeldMessage.requestLine(line.text)
                if method != head.method { try request.setMethod(String(method)) }
                try request.setURL(String(url))
                return .request(request.head, body: body, destination: request.destination)
            case .response(var head, let body):
                let (status, reason) = try HeldMessage.statusLine(line.text)
                if status != head.status || reason != head.reason[...] {
                    let isReasonOld = reason == head.reason[...] && status != head.status
                    head.reason = isReasonOld ? ResponseHead.standardReason(status) : String(reason)
                    head.status = status
                }
                return .response(head, body: body)
            }
        } catch {
            throw ControlFailure("line \(number): \(error.message)", hint: error.hint)
        }
    }

    /// Splits `GET https://host/path HTTP/1.1`; the version may be left out and says nothing.
    private static func requestLine(_ line: Substring) throws(ControlFailure) -> (Substring, Substring) {
        var words = line.split(separator: " ")
        if words.count > 2, words[words.count - 1].hasPrefix("HTTP/") { words.removeLast() }
        guard words.count == 2 else {
            throw ControlFailure(
                "the first line of a request has a method and a URL: '\(line.prefix(80))'",
                hint: "For example: GET https://host/path HTTP/1.1; a space in a URL is written %20."
            )
        }
        return (words[0], words[1])
    }

    private static func statusLine(_ line: Substring) throws(ControlFailure) -> (Int, Substring) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
            throw ControlFailure(
                "the first line of a response has a version and a status: '\(line.prefix(80))'",
                hint: "For example: HTTP/1.1 404 Not Found"
            )
        }
        try HeaderRules.checkStatus(status)
        let reason = words.count > 2 ? words[2].trimmingBlanks : ""
        guard reason.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw ControlFailure("the reason phrase has control characters")
        }
        return (status, reason)
    }

    /// Composes the head anew with these field lines.
    fileprivate mutating func replaceFields(_ lines: [(name: [UInt8], value: [UInt8])]) {
        var bytes = ByteBuffer()
        func writeFields() {
            for line in lines {
                bytes.writeBytes(line.name)
                bytes.writeStaticString(": ")
                bytes.writeBytes(line.value)
                bytes.writeStaticString("\r\n")
            }
            bytes.writeStaticString("\r\n")
        }
        switch self {
        case .request(let head, let body, let destination):
            bytes.writeString("\(head.method) ")
            bytes.writeBytes(head.targetBytes)
            bytes.writeString(" \(head.version)\r\n")
            writeFields()
            guard var new = StoredHead.request(bytes) else { return }
            // Setting it is what marks the head as edited.
            new.version = head.version
            self = .request(new, body: body, destination: destination)
        case .response(let head, let body):
            bytes.writeString("\(head.version) \(head.status) \(head.reason)\r\n")
            writeFields()
            guard var new = StoredHead.response(bytes) else { return }
            new.version = head.version
            self = .response(new, body: body)
        }
    }
}

/// Takes a text line by line; a line ends with LF or CRLF.
private struct LineReader {
    struct Line {
        var number: Int
        var text: Substring
    }

    /// What was not taken yet.
    private(set) var rest: Substring
    /// The number of the next line, from 1.
    private(set) var number = 1

    init(_ text: String) {
        rest = text[...]
        if rest.unicodeScalars.first == "\u{FEFF}" { rest.unicodeScalars.removeFirst() }
    }

    var peekIsComment: Bool { rest.utf8.first == UInt8(ascii: "#") }

    mutating func next() -> Line? {
        guard !rest.isEmpty else { return nil }
        defer { number += 1 }
        guard let end = rest.utf8.firstIndex(of: 0x0A) else {
            defer { rest = rest[rest.endIndex...] }
            return Line(number: number, text: rest)
        }
        // CRLF is one character to Swift, so its halves are told apart as bytes.
        var line = rest.utf8[..<end]
        if line.last == 0x0D { line.removeLast() }
        rest = Substring(rest.utf8[rest.utf8.index(after: end)...])
        return Line(number: number, text: Substring(line))
    }
}

extension StringProtocol {
    /// Without spaces, tabs and line ends around it.
    fileprivate var trimmingBlanks: Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var bytes = Substring(self).utf8
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return Substring(bytes)
    }
}
