package import Content
package import HTTPModel

package enum CopyForm: String, CaseIterable, Sendable, Hashable {
    case curl, url, response, request, httpie, fetch, python, raw
    case requestHeaders = "request-headers"
    case responseHeaders = "response-headers"
    case cookies
    // Parts of the open detail.
    case value, path, header, line, page

    package var title: String {
        switch self {
        case .curl: "cURL command"
        case .url: "URL"
        case .response: "Response body"
        case .request: "Request body"
        case .httpie: "HTTPie command"
        case .fetch: "fetch call (JavaScript)"
        case .python: "Python with requests"
        case .raw: "Raw request and response"
        case .requestHeaders: "Request headers"
        case .responseHeaders: "Response headers"
        case .cookies: "Cookies, sent and set"
        case .value: "Value under the cursor, of JSON or a header"
        case .path: "Path of the JSON value under the cursor"
        case .header: "Header line under the cursor"
        case .line: "Line under the cursor"
        case .page: "All that the page shows"
        }
    }

    package var noun: String {
        switch self {
        case .value: "Value"
        case .path: "Path"
        case .header: "Header line"
        case .line: "Line"
        case .page: "The page's text"
        default: title
        }
    }

    /// Whether it is a shell command; several commands are a script.
    package var isCommand: Bool { self == .curl || self == .httpie }

    /// Whether it is copied from the displayed lines, not from the exchange.
    package var isShown: Bool { [.value, .path, .header, .line, .page].contains(self) }
}

extension CopyForm {
    /// `nil` for forms that need more than heads and the request. `files` stores bodies too long for a command.
    package func text(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        files: (any BodyFiles)?
    ) throws -> String? {
        let messages = exchange.messages
        switch self {
        case .url: return exchange.record.url.description
        case .curl:
            return String(decoding: try CurlCommand(exchange, source: source, files: files).bytes, as: UTF8.self)
        case .fetch: return try FetchCall(RequestToRepeat(exchange, source: source)).text()
        case .python: return try PythonCall(request: RequestToRepeat(exchange, source: source)).text()
        case .httpie: return try HTTPieCommand(RequestToRepeat(exchange, source: source)).text(files)
        case .requestHeaders: return CopyForm.fields(messages.fields(of: .requestReceived))
        case .responseHeaders: return CopyForm.fields(messages.fields(of: .responseReceived))
        case .cookies:
            let sent = Cookies.request(messages.fields(of: .requestReceived)).map { "\($0.name)=\($0.value)" }
            let set = messages.fields(of: .responseReceived).values(of: .setCookie).map { "Set-Cookie: \($0)" }
            return (sent + set).joined(separator: "\n")
        case .response, .request, .raw, .value, .path, .header, .line, .page: return nil
        }
    }

    private static func fields(_ fields: FieldSection) -> String {
        fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}
