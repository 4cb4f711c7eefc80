import Foundation
import Text

/// A request as a call of `fetch`, for a browser's console or Node.
struct FetchCall {
    private let request: RequestToRepeat
    private var remarks: [String] = []

    init(_ request: RequestToRepeat) {
        self.request = request
        if !request.body.isEmpty, isBodyless {
            remarks.append("fetch sends no body with \(request.method), so it is left out")
        }
        let odd = request.url.contains { " \"<>\\^`{|}'".contains($0) || !$0.isASCII }
        if odd || request.url.contains("/.") {
            remarks.append("fetch writes some characters of this URL in its own way")
        }
    }

    private var isBodyless: Bool { ["GET", "HEAD"].contains(request.method.uppercased()) }

    var text: String {
        var options = ["  \"method\": \(literal(request.method))"]
        if !request.fields.isEmpty { options.append("  \"headers\": \(headers)") }
        if !request.body.isEmpty, !isBodyless { options.append("  \"body\": \(body)") }
        if request.has("cookie") { options.append("  \"credentials\": \"include\"") }
        options.append("  \"redirect\": \"manual\"")
        let comments = request.comments("//") + remarks.map { "// \($0)\n" }.joined()
        return comments + "fetch(\(literal(request.url)), {\n\(options.joined(separator: ",\n"))\n});"
    }

    /// An object; where a name comes twice, a list of pairs.
    private var headers: String {
        let names = Set(request.fields.map { $0.name.lowercased() })
        let isObject = names.count == request.fields.count
        let lines = request.fields.map { field in
            let value = literal(latin1(field.value))
            return isObject ? "    \(literal(field.name)): \(value)" : "    [\(literal(field.name)), \(value)]"
        }
        return (isObject ? "{\n" : "[\n") + lines.joined(separator: ",\n") + (isObject ? "\n  }" : "\n  ]")
    }

    private var body: String {
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

    private func literal(_ text: String) -> String { text.quoted { VisibleText.jsonEscape($0) } }
}
