import Content
import Foundation
import Text

/// A request as a call of `fetch`, for a browser's console or Node.
struct FetchCall {
    private let request: RequestToRepeat
    /// The masked secrets, which the call reads from the environment.
    private(set) var variables: ShellVariables?
    private var remarks: [String] = []

    /// Throws ``CurlError`` for a request that makes fetch throw, by which a program would end.
    init(_ request: RequestToRepeat) throws(CurlError) {
        if let reason = FetchCall.refusal(of: request) { throw CurlError(description: "fetch cannot send \(reason)") }
        self.request = request
        variables = request.variables
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

    mutating func text() -> String {
        let (comments, call) = parts()
        return comments + FetchCall.guards(variables?.meanings ?? []) + "\(call);"
    }

    /// A comment line; whatever could end it is made visible.
    static func comment(_ text: String) -> String { "// \(VisibleText.of(text))\n" }

    /// Lines that end a program where a variable is not set.
    static func guards(_ meanings: [(name: String, meaning: String)]) -> String {
        meanings.map { name, meaning in
            let words = "set \(name) to the \(meaning)".quoted(VisibleText.jsonEscape)
            return "if (!process.env.\(name)) throw new Error(\(words));\n"
        }.joined()
    }

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
    mutating func parts() -> (comments: String, call: String) {
        let url = literal(request.url)
        var options = ["  \"method\": \(literal(request.method))"]
        if !request.fields.isEmpty { options.append("  \"headers\": \(headers())") }
        if request.hasBody, !isBodyless { options.append("  \"body\": \(body())") }
        if request.has("cookie") { options.append("  \"credentials\": \"include\"") }
        options.append("  \"redirect\": \"manual\"")
        let comments = (request.remarks + remarks).map(FetchCall.comment).joined()
        let call = "fetch(\(url), {\n\(options.joined(separator: ",\n"))\n})"
        guard !isBodyless, let held = request.heldBody else { return (comments, call) }
        let guards = FetchCall.guards([(held.variable, held.meaning)])
        return (comments + guards, "import(\"node:fs\").then((fs) => \(call))")
    }

    /// An object; a list of pairs where a name comes twice, or is that of the object's prototype.
    private mutating func headers() -> String {
        let names = Set(request.fields.map { $0.name.lowercased() })
        let isObject = names.count == request.fields.count && !names.contains("__proto__")
        var lines: [String] = []
        for field in request.fields {
            let (name, value) = (literal(field.name), literal(latin1(field.value)))
            // A name that is no literal stands in brackets.
            let isComputed = variables?.areNeeded(in: Array(field.name.utf8)) ?? false
            let key = isComputed ? "[\(name)]" : name
            lines.append(isObject ? "    \(key): \(value)" : "    [\(name), \(value)]")
        }
        return (isObject ? "{\n" : "[\n") + lines.joined(separator: ",\n") + (isObject ? "\n  }" : "\n  ]")
    }

    private mutating func body() -> String {
        if let held = request.heldBody { return "fs.readFileSync(process.env.\(held.variable))" }
        guard let text = String(validating: request.body, as: UTF8.self), text.first != "\u{FEFF}" else {
            return bytes(request.body)
        }
        // fetch gives a text without a type the type text/plain.
        return request.has("content-type") ? literal(text) : "new TextEncoder().encode(\(literal(text)))"
    }

    /// Bytes that are no text, with what they read from the environment.
    private mutating func bytes(_ bytes: [UInt8]) -> String {
        guard let pieces = variables?.pieces(of: bytes), pieces.contains(where: \.isVariable) else {
            return "Uint8Array.from(atob(\"\(Data(bytes).base64EncodedString())\"), (c) => c.charCodeAt(0))"
        }
        // A variable of the environment is text to Node.
        let charset = isLatin1 ? ", \"latin1\"" : ""
        let parts = pieces.map { piece in
            switch piece {
            case .text(let bytes): "Buffer.from(\"\(Data(bytes).base64EncodedString())\", \"base64\")"
            case .variable(let name): "Buffer.from(process.env.\(name)\(charset))"
            }
        }
        return "Buffer.concat([\(parts.joined(separator: ", "))])"
    }

    /// Whether the body says that each of its bytes is a character.
    private var isLatin1: Bool {
        let type = request.fields.first { $0.name.lowercased() == "content-type" }
        let charset = type.flatMap { MediaType(String(decoding: $0.value, as: UTF8.self))?.parameter("charset") }
        return charset.map { Charset($0) } == .windows1252
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
