import Foundation
import NIOCore
import NIOPosix
import ProxyServer
import Runner

struct PortCheck: Sendable {
    let host: String
    let port: Int

    private static let about = "port"
    /// Ports after the wanted one that are tried for the advice.
    private static let further = 20

    func findings() async -> [Finding] {
        let place = Listener(host: host, port: port).place
        guard let error = await refusal(port) else { return [.ok(Self.about, "\(place) is free")] }
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            if await isOurs(place) { return [.ok(Self.about, "the running Sluice listens on \(place)")] }
            return [.problem(Self.about, "\(place) is in use", fix: "sluice --listen \(await otherPlace())")]
        case EACCES:
            let text = "\(place) is for root, as are all ports below 1024"
            return [.problem(Self.about, text, fix: "sluice --listen \(await otherPlace())")]
        default:
            let text = ListeningRefusal.words(error, host: host, place: place)
            return [.problem(Self.about, text, fix: "sluice --listen 127.0.0.1:0")]
        }
    }

    private func refusal(_ port: Int) async -> (any Error)? {
        do {
            let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            let address = try? SocketAddress(ipAddress: host, port: port)
            let binding = address.map { bootstrap.bind(to: $0) } ?? bootstrap.bind(host: host, port: port)
            try await binding.get().close().get()
            return nil
        } catch {
            return error
        }
    }

    private func isOurs(_ place: String) async -> Bool {
        let client = try? ControlClient(nil, timeout: .seconds(1))
        return (try? await client?.status())?.address == place
    }

    private func otherPlace() async -> String {
        let first = max(port, 8_080)
        for candidate in (first + 1)...(first + Self.further) where candidate < 65_536 {
            if await refusal(candidate) == nil { return Listener(host: host, port: candidate).place }
        }
        return Listener(host: host, port: 0).place
    }
}
