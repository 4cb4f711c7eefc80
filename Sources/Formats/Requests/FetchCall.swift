import Foundation
import Text

/// A request as a call of `fetch`, for a browser's console or Node.
struct FetchCall {
    private let request: RequestToRepeat
    private var remarks: [String] = []

    /// Throws ``CurlError`` for a request that makes fetch throw, by which a program would end.
    init(_ request: RequestToRepeat) throws(CurlError) {
        if let reason = FetchCall.refusal(of: request) { throw CurlError(description: "fetch cannot send \(reason)") }
        self.request = request
        let upper = request.method.uppercased()
        if upper != request.method, ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(upper) {
            remarks.append("fetch sends the method \(request.method) as \(upper)")
        }
        if request.hasBody, isBodyless {
            remarks.append("fetch sends no body with \(request.method), so it is left out")
        }
        let names = Set(request.fields.map { $0.name.lowercased() })
        if names.count < request.fields.count {
            remarks.append("header lines of one name are joined, as fetch sends one")
        }
        let odd = request.url.contains { " \"<>\\^`{|}'".contains($0) || !$0.isASCII }
        if odd || request.url.contains("/.") {
            remarks.append("fetch writes some characters of this URL in its own way")
        }
    }

    /// What of a request fetch throws for (Fetch §2.2.1, §2.2.2; Node's undici).
    private static func refusal(of request: RequestToRepeat) -> String? {
        if ["CONNECT", "TRACE", "TRACK"].contains(request.method.uppercased()) || !request.method.isToken {
            return "the method \(request.method)"
        }
        for (name, value) in request.fields {
            if !name.isToken { return "the header '\(name)', whose name is no token" }
            // Blanks around a value are no part of it.
            if value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
                return "the value of \(name), which has a control character"
            }
        }
        return nil
    }

    private var isBodyless: Bool { ["GET", "HEAD"].contains(request.method.uppercased()) }

    func text() -> String {
        let (comments, call) = parts()
        return "\(comments)\(call);"
    }

    /// A comment line; whatever could end it is made visible.
    static func comment(_ text: String) -> String { "// \(VisibleText.of(text))\n" }

    /// The statements of a program for one of several requests, which goes on after an error, and says so at its end. No
    /// body is read.
    static func attempt(_ expression: String, _ number: String, _ title: String) -> String {
        func literal(_ text: String) -> String { text.quoted(VisibleText.jsonEscape) }
        return """
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

    /// What is not the same, and the call as an expression.
    func parts() -> (comments: String, call: String) {
        let url = literal(request.url)
        var options = ["  \"method\": \(literal(request.method))"]
        if !request.fields.isEmpty { options.append("  \"headers\": \(headers())") }
        if request.hasBody, !isBodyless { options.append("  \"body\": \(body())") }
        if request.has("cookie") { options.append("  \"credentials\": \"include\"") }
        options.append("  \"redirect\": \"manual\"")
        let comments = (request.remarks + remarks).map(FetchCall.comment).joined()
        return (comments, "fetch(\(url), {\n\(options.joined(separator: ",\n"))\n})")
    }

    /// An object; a list of pairs where a name comes twice, or is that of the object's prototype.
    private func headers() -> String {
        let names = Set(request.fields.map { $0.name.lowercased() })
        let isObject = names.count == request.fields.count && !names.contains("__proto__")
        var lines: [String] = []
        for field in request.fields {
            let (name, value) = (literal(field.name), literal(latin1(field.value)))
            lines.append(isObject ? "    \(name): \(value)" : "    [\(name), \(value)]")
        }
        return (isObject ? "{\n" : "[\n") + lines.joined(separator: ",\n") + (isObject ? "\n  }" : "\n  ]")
    }

    private func body() -> String {
        guard let text = String(validating: request.body, as: UTF8.self), text.first != "\u{FEFF}" else {
            let base64 = Data(request.body).base64EncodedString()
            return "Uint8Array.from(atob(\"\(base64)\"), (c) => c.charCodeAt(0))"
        }
        // fetch gives a text without a type the type text/plain.
        return request.has("content-type") ? literal(text) : "new TextEncoder().encode(\(literal(text)))"
    }

    /// Each byte as the character of that number, which is what fetch takes and sends.
    private func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private func literal(_ text: String) -> String { text.quoted(VisibleText.jsonEscape) }
}
