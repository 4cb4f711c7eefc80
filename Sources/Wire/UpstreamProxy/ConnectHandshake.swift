package import HTTPModel
package import NIOCore

/// A client's CONNECT to an HTTP proxy (RFC 9110 §9.3.6).
package final class ConnectHandshake: ProxyHandshake {
    private let authority: String
    private let authorization: String?
    private var parser: HTTP1ResponseParser
    /// Bytes that the proxy sent; endless answers are given up.
    private var received = 0
    private var refusal: ProxyRefusal.HTTPAnswer?
    private var text: [UInt8] = []

    /// The most bytes of a proxy before the connection is open.
    package static let limit = 64 << 10
    package static let answerLimits = HTTP1Limits(startLine: 8 << 10, head: 32 << 10, fieldCount: 200)
    private static let textLimit = 4 << 10

    /// `authority` is the server's host (IPv6 in brackets) and port, `authorization` is for `Proxy-Authorization`.
    package init(authority: String, authorization: String? = nil) {
        self.authority = authority
        self.authorization = authorization
        parser = HTTP1ResponseParser(limits: Self.answerLimits)
        parser.expect(method: "CONNECT")
    }

    package func begin() -> ByteBuffer {
        var fields = [("Host", authority)]
        if let authorization { fields.append(("Proxy-Authorization", authorization)) }
        var bytes = ByteBuffer()
        HTTP1Encoder.writeHead(RequestHead(method: "CONNECT", target: authority, fields: fields), into: &bytes)
        return bytes
    }

    package func receive(_ bytes: ByteBuffer) -> ProxyAnswer {
        received += bytes.readableBytes
        parser.receive(bytes)
        do throws(HTTP1ParseError) {
            while let event = try parser.next() {
                if let answer = take(event) { return answer }
            }
        } catch {
            if let refusal { return .refused(.status(refusal.saying(text)), isWhole: true) }
            return .refused(.invalid(error.explanation), isWhole: true)
        }
        if let refusal { return .refused(.status(refusal.saying(text)), isWhole: received > Self.limit) }
        return received > Self.limit ? .refused(.invalid("Its answer is incomplete."), isWhole: true) : .more
    }

    private func take(_ event: HTTP1ResponseParser.Event) -> ProxyAnswer? {
        switch event {
        case .informational: return nil
        case .head(let head, _):
            if (200..<300).contains(head.status) { return nil }
            refusal = .init(status: head.status, reason: head.reason, schemes: head.proxyAuthenticationSchemes)
            return head.status == 101 ? .refused(.invalid("It switched protocols instead."), isWhole: true) : nil
        case .part(let part):
            text += part.readableBytesView.prefix(max(0, Self.textLimit - text.count))
            guard let refusal, text.count >= Self.textLimit else { return nil }
            return .refused(.status(refusal.saying(text)), isWhole: true)
        case .end:
            if let refusal { return .refused(.status(refusal.saying(text)), isWhole: true) }
            return .open(rest: parser.takeRemaining())
        }
    }
}

extension ResponseHead {
    /// The schemes that the challenges of a proxy offer (RFC 9110 §11.7.1).
    package var proxyAuthenticationSchemes: [String] {
        fields.values(of: .proxyAuthenticate).compactMap {
            $0.split(separator: " ").first.map { String($0.prefix(40)) }
        }
    }
}

extension ProxyRefusal.HTTPAnswer {
    private static let lineLimit = 200

    /// Adds the title of a page, or the first line of any other body.
    fileprivate func saying(_ body: [UInt8]) -> Self {
        var answer = self
        let text = String(decoding: body, as: UTF8.self)
        answer.firstLine = Self.title(text) ?? Self.line(text)
        return answer
    }

    /// The title of a page; empty if it has none, `nil` if the text is not a page.
    private static func title(_ text: String) -> String? {
        guard text.drop(while: \.isWhitespace).first == "<" else { return nil }
        let lower = text.lowercased()
        guard let start = lower.firstRange(of: "<title>")?.upperBound,
            let end = lower[start...].firstRange(of: "</title>")?.lowerBound
        else { return "" }
        return line(String(lower.count == text.count ? shown(text, lower, start..<end) : lower[start..<end]))
    }

    private static func shown(_ text: String, _ lower: String, _ range: Range<String.Index>) -> Substring {
        let start = lower.distance(from: lower.startIndex, to: range.lowerBound)
        let end = lower.distance(from: lower.startIndex, to: range.upperBound)
        return text.dropFirst(start).prefix(end - start)
    }

    private static func line(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).lazy.map { $0.drop(while: \.isWhitespace) }
        guard let line = lines.first(where: { !$0.isEmpty }) else { return "" }
        let shown = line.prefix(lineLimit).filter {
            $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        }
        return String(shown)
    }
}
