import HTTPModel
import NIOCore
import Wire

/// Feeds a case to a parser and writes down what comes out, one line for each event.
///
/// Neighbouring parts of a body are written as one, since where a body is cut follows from where the input is.
struct CaseRun {
    /// When `next` is called: after every piece, or only after the last one.
    enum Draining: CaseIterable {
        case eager
        case late
    }

    private(set) var lines: [String] = []
    private var body: [UInt8] = []

    static func run(_ parserCase: ParserCase, pieces: [[UInt8]], draining: Draining = .eager) -> [String] {
        var run = CaseRun()
        if parserCase.isRequest {
            run.runRequests(parserCase, pieces, draining)
        } else {
            run.runResponses(parserCase, pieces, draining)
        }
        return run.lines
    }

    private mutating func runRequests(_ parserCase: ParserCase, _ pieces: [[UInt8]], _ draining: Draining) {
        var parser = HTTP1RequestParser()
        var isTunnel = false
        var method = ""
        do throws(HTTP1ParseError) {
            for (index, piece) in pieces.enumerated() {
                parser.receive(ByteBuffer(bytes: piece))
                let isLast = index == pieces.count - 1
                if draining == .late, !isLast { continue }
                if isLast, parserCase.endsWithEOF { parser.receiveEOF() }
                while !isTunnel, let event = try parser.next() {
                    switch event {
                    case .head(let head, let framing):
                        method = head.method
                        note(
                            "head \(escaped(head.method.utf8)) \(escaped(head.targetBytes)) \(head.version) \(framing)"
                        )
                        note(head.fields, "field")
                    case .part(let part):
                        body += Array(part.readableBytesView)
                        if part.readableBytes == 0 { note("empty part") }
                    case .end(let trailers):
                        end(trailers, parser.wireSize, parser.tolerances)
                        isTunnel = method == "CONNECT"
                    }
                }
            }
            finish()
            if isTunnel, let rest = parser.takeRemaining() { note("remaining \(escaped(rest.readableBytesView))") }
        } catch {
            fail(error)
            if case nil = try? parser.next() {} else { note("the error is not repeated") }
        }
    }

    private mutating func runResponses(_ parserCase: ParserCase, _ pieces: [[UInt8]], _ draining: Draining) {
        var parser = HTTP1ResponseParser()
        var methods = parserCase.methods[...]
        if let method = methods.popFirst() { parser.expect(method: method) }
        var endsHTTP = false
        do throws(HTTP1ParseError) {
            for (index, piece) in pieces.enumerated() {
                parser.receive(ByteBuffer(bytes: piece))
                let isLast = index == pieces.count - 1
                if draining == .late, !isLast { continue }
                if isLast, parserCase.endsWithEOF { parser.receiveEOF() }
                while let event = try parser.next() {
                    switch event {
                    case .informational(let head):
                        note("informational \(head.status) \(escaped(head.reason.utf8)) \(head.version)")
                        note(head.fields, "field")
                    case .head(let head, let framing):
                        note("head \(head.status) \(escaped(head.reason.utf8)) \(head.version) \(framing)")
                        note(head.fields, "field")
                        endsHTTP = head.status == 101 || framing == .none && parserCase.methods == ["CONNECT"]
                    case .part(let part):
                        body += Array(part.readableBytesView)
                        if part.readableBytes == 0 { note("empty part") }
                    case .end(let trailers):
                        end(trailers, parser.wireSize, parser.tolerances)
                        if let method = methods.popFirst() { parser.expect(method: method) }
                    }
                }
            }
            finish()
            if endsHTTP, let rest = parser.takeRemaining() { note("remaining \(escaped(rest.readableBytesView))") }
        } catch {
            fail(error)
        }
    }

    private mutating func note(_ line: String) {
        if !body.isEmpty { lines.append("body \(escaped(body))") }
        body = []
        lines.append(line)
    }

    private mutating func note(_ fields: FieldSection, _ word: String) {
        for field in fields { note("\(word) \(escaped(field.nameBytes)): \(escaped(field.valueBytes))") }
    }

    private mutating func end(_ trailers: FieldSection?, _ size: HTTP1WireSize, _ tolerances: HTTP1Tolerances) {
        if let trailers { note(trailers, "trailer") }
        for explanation in tolerances.explanations { note("tolerated: \(explanation)") }
        note("end head=\(size.head) body=\(size.body)")
    }

    private mutating func finish() {
        if !body.isEmpty { lines.append("body \(escaped(body))") }
        body = []
    }

    private mutating func fail(_ error: HTTP1ParseError) {
        let missing = error.missing.map { " missing \($0)" } ?? ""
        note("error \(error.code) at \(error.offset) status \(error.status)\(missing)")
    }
}

/// Bytes as one line of ASCII.
func escaped(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes {
        switch byte {
        case 0x0D: text += "\\r"
        case 0x0A: text += "\\n"
        case 0x09: text += "\\t"
        case 0x5C: text += "\\\\"
        case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
        default: text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
    return text
}
