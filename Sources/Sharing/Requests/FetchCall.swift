import Foundation
import Text

/// A request as a call of `fetch`, for a browser's console or Node.
struct FetchCall {
    private let request: RequestToRepeat
    /// The masked secrets, which the call reads from the environment.
    private(set) var variables: ShellVariables?
    private var remarks: [String] = []

    init(_ request: RequestToRepeat) {
        self.request = request
        variables = request.variables
        if !request.body.isEmpty, isBodyless {
            remarks.append("fetch sends no body with \(request.method), so it is left out")
        }
        let odd = request.url.contains { " \"<>\\^`{|}'".contains($0) || !$0.isASCII }
        if odd || request.url.contains("/.") {
            remarks.append("fetch writes some characters of this URL in its own way")
        }
    }

    private var isBodyless: Bool { ["GET", "HEAD"].contains(request.method.uppercased()) }

    mutating func text() -> String {
        let (comments, call) = parts()
        return comments + FetchCall.guards(variables?.meanings ?? []) + "\(call);"
    }

    /// Lines that end a program where a variable is not set.
    static func guards(_ meanings: [(name: String, meaning: String)]) -> String {
        meanings.map { name, meaning in
            let words = "set \(name) to the \(meaning)".quoted(VisibleText.jsonEscape)
            return "if (!process.env.\(name)) throw new Error(\(words));\n"
        }.joined()
    }

    /// What is not the same, and the call as an expression.
    mutating func parts() -> (comments: String, call: String) {
        let url = literal(request.url)
        var options = ["  \"method\": \(literal(request.method))"]
        if !request.fields.isEmpty { options.append("  \"headers\": \(headers())") }
        if !request.body.isEmpty, !isBodyless { options.append("  \"body\": \(body())") }
        if request.has("cookie") { options.append("  \"credentials\": \"include\"") }
        options.append("  \"redirect\": \"manual\"")
        let comments = request.comments("//") + remarks.map { "// \($0)\n" }.joined()
        return (comments, "fetch(\(url), {\n\(options.joined(separator: ",\n"))\n})")
    }

    /// An object; where a name comes twice, a list of pairs.
    private mutating func headers() -> String {
        let names = Set(request.fields.map { $0.name.lowercased() })
        let isObject = names.count == request.fields.count
        var lines: [String] = []
        for field in request.fields {
            let (name, value) = (field.name.quoted(VisibleText.jsonEscape), literal(latin1(field.value)))
            lines.append(isObject ? "    \(name): \(value)" : "    [\(name), \(value)]")
        }
        return (isObject ? "{\n" : "[\n") + lines.joined(separator: ",\n") + (isObject ? "\n  }" : "\n  ]")
    }

    private mutating func body() -> String {
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

    /// A text between double quotes, with what it reads from the environment.
    private mutating func literal(_ text: String) -> String {
        guard variables != nil else { return text.quoted(VisibleText.jsonEscape) }
        let pieces = variables?.pieces(of: Array(text.utf8)) ?? []
        return pieces.map { piece in
            switch piece {
            case .text(let bytes): String(decoding: bytes, as: UTF8.self).quoted(VisibleText.jsonEscape)
            case .variable(let name): "process.env.\(name)"
            }
        }.joined(separator: " + ")
    }
}
