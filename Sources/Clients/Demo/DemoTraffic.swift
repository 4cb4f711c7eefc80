package import NIOCore
package import Wire

extension Demo {
    /// Sends one exchange of every kind within about two seconds. With `forever`, one a second follows, a WebSocket and
    /// an event stream stay open, and requests are held repeatedly. Errors are ignored: the user may change the rules.
    package static func drive(
        _ origin: DemoOrigin,
        through proxy: SocketAddress,
        authority: CertificateAuthority,
        forever: Bool
    ) async {
        let client = DemoClient(proxy: proxy, authority: authority, origin: origin)
        await withDiscardingTaskGroup { group in
            group.addTask { await repeating(forever, pause: .seconds(20)) { try await client.logIn() } }
            group.addTask {
                await repeating(forever) {
                    let messages = (1...(forever ? 900 : 3)).map { "how high is the water? (\($0))" }
                    try await client.converse(messages, pause: forever ? .seconds(2) : .zero)
                }
            }
            group.addTask {
                await repeating(forever) {
                    try await client.watch(count: forever ? 1_800 : 6, pauseMilliseconds: forever ? 1_000 : 20)
                }
            }
            group.addTask { await burst(client, thenTrickles: forever) }
        }
    }

    private static func burst(_ client: DemoClient, thenTrickles: Bool) async {
        for visit in [client.shop, client.fail, client.look, client.multiplex, client.passThrough] {
            try? await visit()
        }
        guard thenTrickles else { return }
        while true {
            for step in DemoClient.everyday {
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                try? await step(client)
            }
        }
    }

    private static func repeating(
        _ isRepeated: Bool,
        pause: Duration = .seconds(1),
        _ work: () async throws -> Void
    ) async {
        while true {
            try? await work()
            guard isRepeated else { return }
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }
}
