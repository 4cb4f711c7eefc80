import Content
import HTTPModel
import Support
import Telemetry

/// Reads arbitrary bytes as the trace context of a request, and as a receiver's answer; a valid context is written into a
/// span and found there again.
enum SpanProbe {
    static let seeds: [[UInt8]] = [
        FuzzInput.made(Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8), [0]),
        FuzzInput.made(Array("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more".utf8), [0]),
        FuzzInput.made(Array("00-00000000000000000000000000000000-00f067aa0ba902b7-00".utf8), [0]),
        FuzzInput.made([0x0A, 0x07, 0x08, 0x03, 0x12, 0x03, 0x6F, 0x6C, 0x64], [1, 0]),
        FuzzInput.made([0x08, 0x0E, 0x12, 0x07, 0x6E, 0x6F, 0x74, 0x20, 0x6E, 0x6F, 0x77], [1, 1]),
    ]

    static func run(_ whole: [UInt8]) throws {
        var input = FuzzInput(whole)
        if input.number(below: 2) == 1 { return try read(input.bytes, status: input.choose([200, 503, 400])) }
        guard let context = TraceContext(traceparent: input.bytes) else { return }
        let text = String(decoding: input.bytes, as: UTF8.self)
        let core = input.bytes.prefix(55)
        try demand(core.count == 55 && !core.contains { (0x41...0x5A).contains($0) }, "\(text) is valid")
        try demand(context.traceID.contains { $0 != 0 } && context.parentID.contains { $0 != 0 }, "zeros in \(text)")
        var random = SystemRandomNumberGenerator()
        let record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: text,
            url: RequestURL(scheme: "http", host: text, port: 1, path: text),
            clientConnection: ConnectionID(1)
        )
        let span = ExchangeSpan(record, parent: context, session: nil, random: &random)
        var writer = ProtobufWriter()
        span.write(into: &writer)
        var cursor = WireCursor(writer.bytes, 0..<writer.bytes.count)
        var traceID: [UInt8] = []
        while let field = try cursor.next() {
            if field.number == 1, case .bytes(let range) = field.value { traceID = Array(writer.bytes[range]) }
        }
        try demand(traceID == context.traceID, "\(text) became \(traceID)")
    }

    private static func read(_ body: [UInt8], status: Int) throws {
        let answer = ExportAnswer(
            status: status,
            reason: "",
            retryAfter: String(decoding: body, as: UTF8.self),
            body: body
        )
        switch answer {
        case .accepted(let rejected, let message):
            try demand(status == 200 && rejected >= 0 && message.count <= 200, "\(answer)")
        case .retry(let after, let message):
            try demand(status == 503 && after ?? .zero >= .zero && message.count < 300, "\(answer)")
        case .refused(let message): try demand(status == 400 && message.count < 300, "\(answer)")
        }
    }
}
