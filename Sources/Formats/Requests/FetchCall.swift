import Foundation
import Text

/// A request as a call of `fetch`, for a browser's console or Node.
struct FetchCall {
    private let request: RequestToRepeat

    /// Throws ``CurlError`` if fetch would throw for the request, because that would end a program.
    init(_ request: RequestToRepeat) throws(CurlError) {
        if let reason = FetchCall.refusal(of: request) { throw CurlError(description: "fetch cannot send \(reason)") }
        self.request = request
    }

    /// Why fetch throws (Fetch §2.2.1, §2.2.2; Node's undici); `nil` if it does not.
    private static func refusal(of request: RequestToRepeat) -> String? {
        if ["CONNECT", "TRACE", "TRACK"].contains(request.method.uppercased()) || !request.method.isToken {
            return "the method \(request.method)"
        }
        for (name, value) in request.fields {
            if !name.isToken { return "the header '\(name)', whose name is no token" }
            if value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
                return "the value of \(name), which has a control character"
            }
        }
        return nil
    }

    private var hasBody: Bool { request.hasBody && !["GET", "HEAD"].contains(request.method.uppercased()) }

    func text() -> String {
        let (comments, call) = parts()
        return "\(comments)\(call);"
    }

    /// A comment line; makes characters visible that could end it.
    static func comment(_ text: String) -> String { "// \(VisibleText.of(text))\n" }

    /// The statements for one of several requests, which report an error and continue. Bodies are not read.
    static func attempt(_ expression: String, _ number: String, _ title: String) -> String {
        """
        try {
          const response = await \(expression.replacing("\n", with: "\n  "));
          console.log(\(literal(number)), response.status);
          await response.body?.cancel().catch(() => {});
        } catch (error) {
          console.error(\(literal("\(number) \(title)")), String(error.cause ?? error));
          process.exitCode = 1;
        }
        """
    }

    func parts() -> (comments: String, call: String) {
        let literal = FetchCall.literal
        let options = [
            "\"method\": \(literal(request.method))",
            request.fields.isEmpty ? nil : "\"headers\": \(headers)",
            hasBody ? "\"body\": \(body)" : nil,
            request.has("cookie") ? "\"credentials\": \"include\"" : nil,
            "\"redirect\": \"manual\"",
        ]
        let members = options.compactMap { $0.map { "  \($0)" } }.joined(separator: ",\n")
        let comments = (request.remarks + remarks).map(FetchCall.comment).joined()
        return (comments, "fetch(\(literal(request.url)), {\n\(members)\n})")
    }

    private var remarks: [String] {
        let (method, url) = (request.method, request.url)
        let upper = method.uppercased()
        let isUppercased = upper != method && ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(upper)
        let isOdd = url.contains { " \"<>\\^`{|}'".contains($0) || !$0.isASCII } || url.contains("/.")
        return [
            isUppercased ? "fetch sends the method \(method) as \(upper)" : nil,
            request.hasBody && !hasBody ? "fetch sends no body with \(method), so it is left out" : nil,
            request.hasRepeatedNames ? "header lines of one name are joined, as fetch sends one" : nil,
            isOdd ? "fetch writes some characters of this URL in its own way" : nil,
        ].compactMap(\.self)
    }

    /// An object, or a list of pairs if a name is repeated or is `__proto__`.
    private var headers: String {
        let isObject = !request.hasRepeatedNames && !request.has("__proto__")
        let lines = request.fields.map { name, value in
            let pair = [name, FetchCall.latin1(value)].map(FetchCall.literal)
            return isObject ? "    \(pair[0]): \(pair[1])" : "    [\(pair[0]), \(pair[1])]"
        }
        return (isObject ? "{\n" : "[\n") + lines.joined(separator: ",\n") + (isObject ? "\n  }" : "\n  ]")
    }

    private var body: String {
        guard let text = String(validating: request.body, as: UTF8.self), text.first != "\u{FEFF}" else {
            let base64 = Data(request.body).base64EncodedString()
            return "Uint8Array.from(atob(\"\(base64)\"), (c) => c.charCodeAt(0))"
        }
        let literal = FetchCall.literal(text)
        // fetch sends a text without a type as text/plain.
        return request.has("content-type") ? literal : "new TextEncoder().encode(\(literal))"
    }

    /// Each byte as the character with its number, because fetch sends Latin-1.
    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func literal(_ text: String) -> String { text.quoted(VisibleText.jsonEscape) }
}
