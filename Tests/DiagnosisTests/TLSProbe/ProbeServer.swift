import Foundation
import NIOCore
import NIOPosix
import Support
import Wire

@testable import Diagnosis

extension OpenSSLServer {
    var trust: TLSTrust { TLSTrust(includesSystem: false, extraFiles: [root]) }

    /// Looks at the server that certificates and options make.
    func report(
        _ options: [String] = [],
        certificate name: String = "leaf",
        host: String = "127.0.0.1",
        trust: TLSTrust? = nil
    ) async throws -> TLSReport {
        let server = try await start(options, certificate: name)
        defer { server.program.signal(SIGKILL) }
        return try await TLSProbe(
            ProbeTarget(host: host, port: server.port),
            trust: trust ?? self.trust,
            connectTimeout: .seconds(60),
            timeLimit: .seconds(120)
        ).report()
    }
}

/// A server that answers the first bytes with some of its own, or closes, or says nothing.
final class BluntServer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    enum Conduct: Sendable {
        case closes
        case says(String)
        case hangs
        /// Answers a hello with a page that has no status line, and a request as it should.
        case isOldHTTP
        /// Says nothing to a hello, and answers a request.
        case waitsForRequest
    }

    private let conduct: Conduct

    private init(_ conduct: Conduct) { self.conduct = conduct }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch conduct {
        case .hangs: break
        case .waitsForRequest:
            guard unwrapInboundIn(data).readableBytesView.first != 0x16 else { return }
            context.channel.writeAndFlush(ByteBuffer(string: "HTTP/1.0 200 OK\r\n\r\n"), promise: nil)
            context.close(promise: nil)
        case .closes: context.close(promise: nil)
        case .isOldHTTP:
            let isHello = unwrapInboundIn(data).readableBytesView.first == 0x16
            let text = isHello ? "<!DOCTYPE HTML>\n<html>Bad request</html>\n" : "HTTP/1.0 200 OK\r\n\r\n"
            context.channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
            context.close(promise: nil)
        case .says(let text):
            context.channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
            context.close(promise: nil)
        }
    }

    static func withPort<Result>(_ conduct: Conduct, _ body: (Int) async throws -> Result) async throws -> Result {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BluntServer(conduct))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        defer { channel.close(promise: nil) }
        return try await body(channel.localAddress?.port ?? 0)
    }
}
