import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

/// What one exchange became under a profile's tools: one request, its response, and what both became.
struct RewrittenExchange {
    private(set) var connect = ""
    private(set) var requestLine = ""
    private(set) var requestFields = ""
    private(set) var requestBody = ByteBuffer()
    private(set) var status = ""
    private(set) var responseFields = ""
    private(set) var responseLine = ""
    private(set) var responseBody = ByteBuffer()
    private(set) var trace: [String] = []
    private(set) var record: ExchangeRecord

    /// Runs an exchange.
    ///
    /// - Parameters:
    ///   - profile: the profile; its version may be left out.
    ///   - url: what the client asks for.
    ///   - method: the client's method.
    ///   - request: the request's fields, a line each.
    ///   - requestBody: its body; `nil` for none.
    ///   - status: the server's status.
    ///   - response: the response's fields, a line each.
    ///   - responseBody: its body.
    ///   - location: where it is run.
    /// - Throws: what is wrong with the profile.
    init(
        _ profile: String,
        url: String = "http://example.com/",
        method: String = "GET",
        request: String = "",
        requestBody: ByteBuffer? = nil,
        status: Int = 200,
        response: String = "",
        responseBody: ByteBuffer = ByteBuffer(),
        location: SourceLocation = #_sourceLocation
    ) throws {
        let text = profile.contains("version: 1\n") ? profile : "version: 1\n\(profile)"
        let profile = try RuleProfile(text, file: "p.yaml")
        let dialogue = dialogue(profile, url, method: method, location: location)
        var sent = ByteBuffer()
        dialogue.onEffect = { effect, _ in
            if case .sendRequestPart(let part) = effect { sent.writeImmutableBuffer(part) }
        }
        let lengthField = requestBody.map { [("Content-Length", String($0.readableBytes))] } ?? []
        dialogue.requestHead(
            requestBody.map { .length(Int64($0.readableBytes)) } ?? .none,
            RewrittenExchange.fields(request) + lengthField
        )
        var pending = dialogue.takePending()
        if let requestBody {
            dialogue.tell { $0.requestPartReceived(requestBody, now: $1) }
            pending += dialogue.takePending()
        }
        dialogue.requestEnd()
        pending += dialogue.takePending()
        connect = pending.first { $0.hasPrefix("connect") }.map { String($0.dropFirst("connect ".count)) } ?? ""
        dialogue.ready()
        pending = dialogue.takePending()
        requestLine = pending.first ?? ""
        let framing: BodyFraming = method == "HEAD" ? .none : .length(Int64(responseBody.readableBytes))
        dialogue.responseHead(status, framing, RewrittenExchange.fields(response))
        pending = dialogue.takePending()
        if responseBody.readableBytes > 0 {
            dialogue.responsePart(responseBody)
            pending += dialogue.takePending()
        }
        dialogue.responseEnd()
        pending += dialogue.takePending()
        responseLine = pending.first ?? ""
        dialogue.finish(location)
        self.requestBody = sent
        requestFields = RewrittenExchange.text(dialogue.requestHead?.fields)
        self.status = dialogue.responseHead.map { "\($0.status) \($0.reason)" } ?? ""
        responseFields = RewrittenExchange.text(dialogue.responseHead?.fields)
        self.responseBody = dialogue.responseBody
        trace = dialogue.trace
        record = dialogue.record
    }

    /// The fields of `Name: value` lines.
    static func fields(_ text: String) -> [(String, String)] {
        text.split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// Fields as lines, without those that the dialogue adds.
    private static func text(_ fields: FieldSection?) -> String {
        (fields.map { Array($0) } ?? []).filter { !["content-length"].contains($0.name.lowercased()) }
            .map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}

/// Ends a dialogue in the middle, after which its trace can be read.
func abandon(_ dialogue: Dialogue, _ location: SourceLocation = #_sourceLocation) {
    dialogue.clientGone(location: location)
    _ = dialogue.takePending()
    dialogue.finish(location)
}

/// What a client is sent of an interim response that has a link and these fields beside it, and the trace of that.
func interimResponse(
    _ tool: String,
    fields: [(String, String)]
) throws -> (sent: String?, trace: [String]) {
    let profile = try RuleProfile("version: 1\n\(tool)", file: "p.yaml")
    let dialogue = dialogue(profile, "http://example.com/")
    var sent: [ResponseHead] = []
    dialogue.onEffect = { effect, _ in
        if case .sendInterim(let head) = effect { sent.append(head) }
    }
    dialogue.request()
    _ = dialogue.takePending()
    dialogue.ready()
    _ = dialogue.takePending()
    let hints = ResponseHead(status: 103, fields: [("Link", "</s.css>")] + fields)
    dialogue.tell { $0.interimReceived(hints, now: $1) }
    _ = dialogue.takePending()
    abandon(dialogue)
    let recorded = dialogue.messages.interimHeads.map { String(buffer: $0) } ?? ""
    #expect(fields.allSatisfy { recorded.contains("\($0): \($1)") }, "the record has them as received")
    return (sent.first?.fields.description, dialogue.trace)
}
