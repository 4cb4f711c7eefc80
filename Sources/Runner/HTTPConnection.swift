package import HTTPModel
package import NIOCore
import NIOPosix
import ProxyServer
package import Wire

/// A client's connection, to a server or through a proxy to one origin. It carries HTTP/1.1 requests; after an upgrade,
/// or with another ALPN protocol, it carries bytes. Only the task that opened it uses it.
package final class HTTPConnection {
    package enum ConnectionError: Error, CustomStringConvertible {
        case noTunnel(Int)
        /// The peer closed the connection before the end of the answer.
        case closed(hadAnswer: Bool)
        case expired(Duration)
        case unreadableBody(String)

        package var description: String {
            switch self {
            case .noTunnel(let status): "The proxy opened no tunnel: \(status) \(ResponseHead.standardReason(status))."
            case .closed(false): "The connection was closed without an answer."
            case .closed(true): "The connection was closed before the answer was whole."
            case .expired(let limit): "There was no whole answer within \(limit)."
            case .unreadableBody(let reason): "The recorded body cannot be read: \(reason)"
            }
        }
    }

    package enum Arrival {
        case head(ResponseHead)
        case part(ByteBuffer)
    }

    private let channel: any Channel
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var parser = HTTP1ResponseParser()
    private var keepsAlive = true
    /// The value of `Proxy-Authorization`; `nil` once there is a tunnel.
    private var proxyAuthorization: String?

    /// In bytes; larger bodies are written while the answer is read.
    private static let smallBody = 64 << 10

    package enum Peer: Sendable {
        case address(SocketAddress)
        case host(String, port: Int)
    }

    /// Connects, and closes the connection after `body`; `authorization` is the value of `Proxy-Authorization`.
    package static func open(
        _ peer: Peer,
        authorization: String? = nil,
        within limit: Duration = .seconds(10),
        _ body: (HTTPConnection) async throws -> Void
    ) async throws {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        let wrap = { @Sendable (channel: any Channel) in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let stream =
            switch peer {
            case .address(let address): try await bootstrap.connect(to: address, channelInitializer: wrap)
            case .host(let host, let port):
                try await bootstrap.connect(host: host, port: port, channelInitializer: wrap)
            }
        try await stream.executeThenClose { inbound, outbound in
            let connection = HTTPConnection(stream.channel, inbound, outbound)
            connection.proxyAuthorization = authorization
            try await body(connection)
        }
    }

    private init(
        _ channel: any Channel,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.channel = channel
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    /// Our address (`host:port`); empty if unknown.
    package var address: String {
        guard let host = channel.localAddress?.ipAddress, let port = channel.localAddress?.port else { return "" }
        return HostAddress.withPort(host, port)
    }

    package var isReusable: Bool { keepsAlive && channel.isActive }

    /// Opens a tunnel and starts TLS; TLS errors show at the first request.
    package func startTLS(
        to origin: RequestURL,
        trust: TLSTrust,
        applicationProtocol: String = "http/1.1"
    ) async throws {
        let authority = HostAddress.withPort(origin.host, origin.port)
        let connect = RequestHead(method: "CONNECT", target: authority, fields: [("Host", authority)])
        let answer = try await exchange(connect)
        guard answer.status == 200 else { throw ConnectionError.noTunnel(answer.status) }
        proxyAuthorization = nil
        try await startTLS(with: origin.host, trust: trust, applicationProtocol: applicationProtocol)
    }

    /// Starts TLS with the peer; TLS errors show at the first request.
    package func startTLS(
        with host: String,
        trust: TLSTrust,
        applicationProtocol: String = "http/1.1"
    ) async throws {
        try await channel.eventLoop.submit { [channel] in
            let context = try TLSClientContext(trust: trust)
            let session = try context.makeSession(host: host, applicationProtocols: [applicationProtocol])
            // TLS comes before the handler that passes plaintext to us.
            try channel.pipeline.syncOperations.addHandler(TLSChannelHandler(session: session), position: .first)
        }.get()
        parser = HTTP1ResponseParser()
        keepsAlive = true
    }

    /// If `work` takes longer than `limit`, closes the connection and throws ``ConnectionError/expired(_:)``.
    package func within(_ limit: Duration, _ work: () async throws -> Void) async throws {
        let deadline = ContinuousClock.now + limit
        let expiry = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { [channel] in channel.close(promise: nil) }
        defer { expiry.cancel() }
        do {
            try await work()
        } catch  where ContinuousClock.now >= deadline && !Task.isCancelled {
            throw ConnectionError.expired(limit)
        }
    }

    /// Sends a request and reads the final response, which `take` gets. The request's framing fields must fit the body.
    package func exchange(
        _ head: RequestHead,
        body: ByteBuffer = ByteBuffer(),
        _ take: (Arrival) -> Void = { _ in }
    ) async throws -> ResponseHead {
        try await exchange(head, OutgoingBody(body), .length(Int64(body.readableBytes)), trailers: nil, take)
    }

    package func exchange(
        _ head: RequestHead,
        _ body: OutgoingBody,
        _ framing: BodyFraming,
        trailers: FieldSection?,
        _ take: (Arrival) -> Void
    ) async throws -> ResponseHead {
        parser.expect(method: head.method)
        if !Persistence.keepsAlive(head) { keepsAlive = false }
        var head = head
        if let proxyAuthorization { head.fields.set("Proxy-Authorization", proxyAuthorization) }
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &output)
        guard body.size > Int64(HTTPConnection.smallBody) else {
            HTTP1Encoder.writePart(try body.read(0, HTTPConnection.smallBody), framing: framing, into: &output)
            HTTP1Encoder.writeEnd(framing: framing, trailers: trailers, into: &output)
            // After a failed write, the peer may have answered with the reason.
            try? await outbound.write(output)
            return try await response(take)
        }
        // The peer may answer before it has read everything.
        return try await withThrowingTaskGroup(of: Written.self) { [channel, outbound, output] writing in
            writing.addTask {
                let written = await HTTPConnection.write(output, body, framing, trailers, to: outbound)
                // Otherwise the peer would wait for the rest of the body.
                if case .unreadable = written { channel.close(promise: nil) }
                return written
            }
            let outcome: Result<ResponseHead, any Error>
            do {
                outcome = .success(try await response(take))
            } catch {
                outcome = .failure(error)
            }
            writing.cancelAll()
            switch try await writing.next() {
            case .whole: break
            case .unreadable(let reason): throw ConnectionError.unreadableBody(reason)
            // The peer would read the rest of this request as the next request.
            case .cut, nil: keepsAlive = false
            }
            return try outcome.get()
        }
    }

    private enum Written {
        case whole, cut
        case unreadable(String)
    }

    private static func write(
        _ head: ByteBuffer,
        _ body: OutgoingBody,
        _ framing: BodyFraming,
        _ trailers: FieldSection?,
        to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async -> Written {
        do {
            try await outbound.write(head)
            var offset: Int64 = 0
            while offset < body.size {
                let piece: ByteBuffer
                do {
                    piece = try body.read(offset, smallBody)
                } catch {
                    return .unreadable("\(error)")
                }
                guard piece.readableBytes > 0 else { return .unreadable("it ends after \(offset) bytes") }
                var output = ByteBuffer()
                HTTP1Encoder.writePart(piece, framing: framing, into: &output)
                try await outbound.write(output)
                offset += Int64(piece.readableBytes)
            }
            if let end = HTTP1Encoder.end(framing: framing, trailers: trailers) { try await outbound.write(end) }
            return .whole
        } catch {
            return .cut
        }
    }

    private func response(_ take: (Arrival) -> Void) async throws -> ResponseHead {
        var response: ResponseHead?
        var isAtEnd = false
        while true {
            while let event = try parser.next() {
                switch event {
                case .informational: continue
                case .head(let head, let framing):
                    response = head
                    take(.head(head))
                    if head.status == 101 || !Persistence.keepsAlive(head, framing: framing) { keepsAlive = false }
                case .part(let part): take(.part(part))
                case .end:
                    if let response { return response }
                }
            }
            guard !isAtEnd else { throw ConnectionError.closed(hadAnswer: response != nil) }
            if let bytes = try await inbound.next() {
                parser.receive(bytes)
            } else {
                try Task.checkCancellation()
                isAtEnd = true
                parser.receiveEOF()
            }
        }
    }

    /// The next bytes after the HTTP/1.1 messages; `nil` at the end of the connection.
    package func read() async throws -> ByteBuffer? {
        if let rest = parser.takeRemaining(), rest.readableBytes > 0 { return rest }
        return try await inbound.next()
    }

    package func write(_ bytes: ByteBuffer) async throws { try await outbound.write(bytes) }
}

/// A body with its content coding.
package struct OutgoingBody: Sendable {
    package let size: Int64
    /// Returns fewer bytes only at the end.
    let read: @Sendable (_ offset: Int64, _ limit: Int) throws -> ByteBuffer

    package init(size: Int64, read: @escaping @Sendable (_ offset: Int64, _ limit: Int) throws -> ByteBuffer) {
        (self.size, self.read) = (size, read)
    }

    package init(_ bytes: ByteBuffer) {
        self.init(size: Int64(bytes.readableBytes)) { offset, limit in
            let start = bytes.readerIndex + Int(offset)
            return bytes.getSlice(at: start, length: min(limit, bytes.writerIndex - start)) ?? ByteBuffer()
        }
    }
}
