import HTTPModel
import NIOCore
import Support
import Wire

/// Has header blocks of arbitrary bytes read, and checks that what was read is one head in every form it takes: as
/// fields, as the text that is recorded, and on the connection that it is carried on to.
final class HPACKProbe {
    private var input: FuzzInput
    private let session: HTTP2Session
    private let isServer: Bool
    private var frames = FuzzFrames()
    /// The streams on which a head may come next: the one after those, and those that still are without trailers.
    private var nextStream: UInt32 = 1
    private var openStreams: [UInt32] = []

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        try HPACKProbe(bytes).run()
    }

    private init(_ whole: [UInt8]) {
        input = FuzzInput(whole)
        isServer = input.number(below: 2) == 0
        var settings = HTTP2Settings()
        settings.maxFieldCount = input.choose([1000, 5])
        settings.maxHeaderListSize = input.choose([256 << 10, 400])
        session = HTTP2Session(isServer ? .server : .client, settings: settings)
    }

    private func run() throws {
        var start = ByteBuffer()
        if isServer { start.writeString(FuzzFrames.preface) }
        frames.add(.settings)
        var rest = input.bytes[...]
        let most = 1 + input.number(below: 6)
        for index in 1...most where !rest.isEmpty || index == 1 {
            let length = index == most ? rest.count : min(rest.count, 1 + input.number(below: 80))
            addHead(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        start.writeImmutableBuffer(frames.bytes)
        for piece in input.pieces(of: Array(start.readableBytesView)) {
            session.receive(ByteBuffer(bytes: piece), now: .uptimeNanoseconds(1))
            while let event = session.nextEvent() { try check(event) }
            while session.nextOutput() != nil {}
        }
    }

    // MARK: Input

    /// Adds a block as HEADERS and CONTINUATION frames.
    private func addHead(_ bytes: [UInt8]) {
        var block = bytes
        var stream = nextStream
        let isTrailers = !openStreams.isEmpty && input.number(below: 3) == 2
        if isTrailers {
            stream = openStreams.removeLast()
        } else {
            nextStream += 2
            if !isServer {
                let head = RequestHead(method: "GET", target: "/", fields: [("Host", "a.example")])
                _ = try? session.sendRequest(head, scheme: "https", isEnd: true)
            }
            // The pseudo-headers that every head needs, so that the fuzzer need not find them each time.
            let pseudo: [UInt8] = isServer ? [0x82, 0x87, 0x84, 0x41, 0x01, 0x61] : [0x88]
            block = input.choose([pseudo, [], [0x20] + pseudo]) + block
        }
        let isEnd = isTrailers || input.number(below: 2) == 0
        if !isEnd { openStreams.append(stream) }
        var pieces = input.pieces(of: block)
        // More CONTINUATION frames than the default limit allows would only ever test the limit.
        if pieces.count > 20 { pieces = Array(pieces.prefix(19)) + [Array(pieces[19...].joined())] }
        if pieces.isEmpty { pieces = [[]] }
        for (index, piece) in pieces.enumerated() {
            let isLast = index == pieces.count - 1
            var flags = isLast ? FuzzFrames.endHeaders : 0
            if index == 0, isEnd { flags |= FuzzFrames.endStream }
            frames.add(index == 0 ? .headers : .continuation, flags: flags, on: stream, piece)
        }
    }

    // MARK: What came of it

    private func check(_ event: HTTP2Event) throws {
        switch event {
        case .requestHead(_, let head, let framing, let scheme, let connectProtocol):
            let text = try demandText(head.received)
            guard let read = StoredHead.request(text) else { throw ProbeError(description: "no request in the text") }
            try demand(read.method == head.method && !head.method.isEmpty, "the method is \(read.method)")
            try demand(read.target == head.target && !head.target.isEmpty, "the target is \(read.target)")
            try demand(read.version == .http2 && head.version == .http2, "the version is \(read.version)")
            try demandSame(read.fields, head.fields, "in the text")
            try carry(head, isEnd: framing == .none, scheme: scheme, connectProtocol: connectProtocol)
        case .interim(_, let head):
            _ = try readBack(head)
        case .responseHead(_, let head, let framing):
            _ = try readBack(head)
            try carry(head, isEnd: framing == .none)
        case .end(_, let trailers?, _):
            var text = ByteBuffer()
            trailers.write(into: &text)
            try demandSame(StoredHead.fields(text), trailers, "in the text of trailers")
        case .malformedRequest(_, _, _, let head):
            if let read = StoredHead.request(head) { _ = try demandText(head, count: read.fields.count) }
        default: break
        }
    }

    private func readBack(_ head: ResponseHead) throws -> ResponseHead {
        let text = try demandText(head.received)
        guard let read = StoredHead.response(text) else { throw ProbeError(description: "no response in the text") }
        try demand(read.status == head.status, "the status is \(read.status), not \(head.status)")
        try demand(read.version == .http2 && head.version == .http2, "the version is \(read.version)")
        try demandSame(read.fields, head.fields, "in the text")
        return read
    }

    /// Checks that a head has nothing but its own lines.
    @discardableResult
    private func demandText(_ text: ByteBuffer?, count: Int? = nil) throws -> ByteBuffer {
        guard let text else { throw ProbeError(description: "a head without text") }
        let bytes = Array(text.readableBytesView)
        try demand(!bytes.contains(0), "a NUL in the head")
        let returns = bytes.indices.filter { bytes[$0] == 0x0D }
        let feeds = bytes.indices.filter { bytes[$0] == 0x0A }
        try demand(returns.map { $0 + 1 } == feeds, "a line end within a line")
        if let count { try demand(feeds.count == count + 1, "\(count) fields in \(feeds.count) lines") }
        return text
    }

    // MARK: Carrying on

    private func carry(_ head: RequestHead, isEnd: Bool, scheme: String, connectProtocol: String?) throws {
        let pair = HTTP2ProbePair()
        let (_, written) = try pair.client.sendRequest(
            head,
            scheme: scheme.isEmpty ? "https" : scheme,
            connectProtocol: connectProtocol,
            isEnd: isEnd
        )
        try demandText(written)
        guard case .requestHead(_, let arrived, _, let arrivedScheme, let arrivedProtocol)? = try pair.atServer() else {
            throw ProbeError(description: "the request does not arrive: \(String(buffer: written))")
        }
        try demand(arrived.method == head.method, "the method arrives as \(arrived.method)")
        // Only http and https have paths that must begin with a slash.
        if head.target.utf8.first == UInt8(ascii: "/") || head.target == "*" || scheme.isEmpty {
            try demand(arrived.target == head.target, "\(head.target) arrives as \(arrived.target)")
        }
        try demand(arrivedScheme == scheme, "the scheme arrives as \(arrivedScheme)")
        try demand(arrivedProtocol == connectProtocol, "the protocol arrives as \(arrivedProtocol ?? "nothing")")
        let hosts = head.fields.filter { $0.name == "host" }
        try demandSame(Array(hosts) + head.fields.filter { $0.name != "host" }, arrived.fields, "at the other end")
        try demand(arrived.received == written, "what is recorded as sent is not what arrives")
    }

    private func carry(_ head: ResponseHead, isEnd: Bool) throws {
        let pair = HTTP2ProbePair()
        let request = RequestHead(method: "GET", target: "/", fields: [("Host", "a.example")])
        _ = try pair.client.sendRequest(request, scheme: "https", isEnd: true)
        guard case .requestHead(let id, _, _, _, _)? = try pair.atServer() else {
            throw ProbeError(description: "a plain request does not arrive")
        }
        let written = pair.server.sendResponse(head, on: id, isEnd: isEnd)
        try demandText(written)
        guard case .responseHead(_, let arrived, _)? = try pair.atClient() else {
            throw ProbeError(description: "the response does not arrive: \(String(buffer: written))")
        }
        try demand(arrived.status == head.status, "the status arrives as \(arrived.status)")
        try demandSame(head.fields, arrived.fields, "at the other end")
        try demand(arrived.received == written, "what is recorded as sent is not what arrives")
    }

    private func demandSame(_ left: some Collection<Field>, _ right: some Collection<Field>, _ place: String) throws {
        // `TE` says one thing only, in any case; from a server, whose odd values are borne, it may say more.
        func lines(_ fields: some Collection<Field>) -> [String] {
            fields.filter { $0.name != "te" || $0.value.lowercased() == "trailers" }
                .map { "\($0.name): \($0.name == "te" ? $0.value.lowercased() : $0.value)" }
        }
        let (left, right) = (lines(left), lines(right))
        try demand(left == right, "the fields are \(right) \(place), not \(left)")
    }
}

/// A client and a server that are connected.
private struct HTTP2ProbePair {
    let client: HTTP2Session
    let server: HTTP2Session

    init() {
        var settings = HTTP2Settings()
        // What was borne once must not be too much the second time for being written otherwise.
        settings.maxHeaderListSize = 1 << 20
        settings.maxFieldCount = 2000
        client = HTTP2Session(.client, settings: settings)
        server = HTTP2Session(.server, settings: settings)
        _ = try? atServer()
        _ = try? atClient()
    }

    /// Carries all there is to the server; the first event of a stream there.
    func atServer() throws -> HTTP2Event? { try carry(client, server) }

    /// Carries all there is to the client; the first event of a stream there.
    func atClient() throws -> HTTP2Event? { try carry(server, client) }

    private func carry(_ sender: HTTP2Session, _ receiver: HTTP2Session) throws -> HTTP2Event? {
        while let bytes = sender.nextOutput() { receiver.receive(bytes, now: .uptimeNanoseconds(1)) }
        var first: HTTP2Event?
        while let event = receiver.nextEvent() {
            if case .settings = event { continue }
            if first == nil { first = event }
        }
        return first
    }
}
