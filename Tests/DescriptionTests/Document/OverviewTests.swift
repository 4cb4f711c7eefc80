import HTTPModel
import Testing

@testable import Description

struct OverviewTests {
    @Test func `a plain exchange is told in facts`() {
        let exchange = Example.exchange { exchange in
            exchange.record.timings.wait = 30_000
            exchange.record.timings.receive = 10_000
            exchange.record.timings.total = 40_000
            exchange.messages.trace = [
                TraceEntry(stage: "rewrite", rule: "small pages", outcome: .fired, text: "changed page: 1 to 2"),
                TraceEntry(stage: "sluice", outcome: .note, text: "waited for a free stream"),
            ]
        }
        let lines = Example.lines(.overview, exchange) { $0.width = 68 }
        #expect(lines.contains("  request         GET https://api.example.com/v1/items?page=2"))
        #expect(lines.contains("  status          200 OK"))
        #expect(lines.contains("  wait       30.0 ms  ━━━━━━━━━━━━━━━·····  until the first byte"))
        #expect(lines.contains("  receive    10.0 ms  ···············━━━━━  the response"))
        #expect(lines.contains("  ● rewrite small pages: changed page: 1 to 2"))
        #expect(lines.contains("  · sluice: waited for a free stream"))
    }

    @Test func `the delivery to the client is a phase, and who answered in the server's place is named`() {
        let exchange = Example.exchange { exchange in
            exchange.record.timings.receive = 10_000
            exchange.record.timings.total = 40_000
            exchange.record.flags = [.answeredLocally]
            exchange.messages.trace = [
                TraceEntry(stage: "map-local", rule: "users", outcome: .fired, text: "answered from u.json"),
                TraceEntry(stage: "throttle", rule: "slow", outcome: .fired, text: "50 KB/s"),
            ]
        }
        let lines = Example.lines(.overview, exchange) { $0.width = 68 }
        #expect(lines.contains { $0.hasPrefix("  deliver    30.0 ms  ") && $0.contains("to the client") }, "\(lines)")
        #expect(lines.contains("  answered by     map-local, rule 'users', not the server"))
    }

    @Test func `of an imported exchange TLS is not said to be none where it is https`() {
        func words(_ scheme: String, here: String) -> String? {
            let exchange = Example.exchange { exchange in
                exchange.record.url.scheme = scheme
                exchange.upstream = ConnectionRecord(
                    id: ConnectionID(2),
                    leg: .upstream,
                    openedAt: 0,
                    localAddress: here,
                    peerAddress: "10.0.0.1:443"
                )
            }
            return Example.lines(.overview, exchange).last { $0.hasPrefix("  TLS  ") }
        }
        #expect(words("https", here: "") == "  TLS             unknown: imported")
        #expect(words("http", here: "") == "  TLS             none: plain text")
        #expect(words("https", here: "127.0.0.1:5") == "  TLS             none: plain text")
    }

    @Test(arguments: [(-10, 0, true), (0, 10, true), (1, 10, false), (-10, -1, false)])
    func `a certificate counts as valid or not at the time of the exchange`(from: Int64, to: Int64, isValid: Bool) {
        let second = Example.start / 1_000_000
        let exchange = Example.exchange { exchange in
            var upstream = ConnectionRecord(
                id: ConnectionID(2),
                leg: .upstream,
                openedAt: 0,
                localAddress: "127.0.0.1:5",
                peerAddress: "10.0.0.1:443"
            )
            let certificate = CertificateSummary(
                subject: "CN=a",
                issuer: "CN=b",
                alternativeNames: [],
                notBefore: second + from,
                notAfter: second + to,
                fingerprint: "00"
            )
            upstream.tls = TLSDetails(
                protocolVersion: "TLSv1.3",
                cipherSuite: "x",
                peerCertificates: [certificate]
            )
            exchange.upstream = upstream
        }
        let line = Example.lines(.overview, exchange) { $0.width = 200 }.first { $0.hasPrefix("    valid ") }
        #expect(line?.hasSuffix(" (not then)") == !isValid, "\(line ?? "")")
    }

    @Test func `the mode is told of what came by a listener, and of nothing else`() {
        func words(_ change: (inout ExchangeRecord) -> Void) -> String? {
            let exchange = Example.exchange { change(&$0.record) }
            return Example.lines(.overview, exchange).first { $0.hasPrefix("  mode ") }
        }
        #expect(words { _ in } == "  mode            regular")
        #expect(words { $0.extras.listeningMode = "socks5" } == "  mode            socks5")
        #expect(words { $0.extras.origin = "har: a.har" } == nil)
    }

    @Test func `a server that was not reached is told from one that was not asked`() {
        let lines = [nil, 2_000].map { (connect: Int64?) in
            let exchange = Example.exchange { exchange in
                exchange.record.state = .failed
                exchange.record.timings = Timings()
                exchange.record.timings.connect = connect
                exchange.upstream = nil
            }
            return Example.lines(.overview, exchange)
        }
        #expect(lines[0].contains("  No server was asked."))
        #expect(lines[1].contains("  No connection came about."))
    }

    @Test func `of an exchange in flight nothing is told that is not known, and in a recording it is cut`() {
        let exchange = Example.exchange { exchange in
            exchange.record.state = .inFlight
            exchange.record.status = 0
            exchange.record.mediaType = ""
            exchange.upstream = nil
        }
        let lines = Example.lines(.overview, exchange)
        #expect(lines.contains("  Nothing is known of it yet: there is no answer."))
        #expect(!lines.contains { $0.contains("No server was asked") || $0.contains("media type") })
        #expect(lines.contains { $0.contains("in flight: it has not ended") })
        let held = Example.lines(.overview, exchange) { $0.held = HeldSide(isRequest: false, ways: "execute or abort") }
        #expect(held.contains("  state           held: its response waits at a breakpoint for execute or abort"))
        let response = Example.lines(.response, exchange) { $0.held = HeldSide(isRequest: false, ways: "") }
        #expect(response.first == "Response  held: not sent on yet")
        let request = Example.lines(.request, exchange) { $0.held = HeldSide(isRequest: false, ways: "") }
        #expect(request.first == "Request  unchanged")
        let recorded = Example.lines(.overview, exchange) { $0.isLive = false }
        #expect(recorded.contains { $0.contains("cut: the recording ended before the exchange did") })
    }

    @Test func `of a server that an archive does not name it is told that it is not known`() {
        func words(_ change: (inout ExchangeRecord) -> Void) -> String? {
            let exchange = Example.exchange { exchange in
                exchange.upstream = nil
                exchange.record.state = .complete
                change(&exchange.record)
            }
            let lines = Example.lines(.overview, exchange)
            return lines.firstIndex { $0.hasPrefix("Server") }.map { String(lines[$0 + 1].drop { $0 == " " }) }
        }
        let unknown = "Not known: the exchange was imported, and the archive does not say."
        #expect(words { $0.extras.origin = "HAR a.har" } == unknown)
        let asked = "No server was asked."
        #expect(words { _ in } == asked)
        let changes: [(inout ExchangeRecord) -> Void] = [
            { $0.status = 0 }, { $0.flags = [.answeredLocally] }, { $0.state = .blocked },
        ]
        for change in changes {
            let told = words { record in
                record.extras.origin = "session a.sluice"
                change(&record)
            }
            #expect(told == asked)
        }
    }

    @Test func `the client's program is told, or that it was not found, where it was one of this machine`() {
        func words(_ change: (inout ExchangeRecord) -> Void) -> String? {
            let exchange = Example.exchange { exchange in
                exchange.record.clientAddress = "127.0.0.1:50000"
                change(&exchange.record)
            }
            return Example.lines(.overview, exchange) { $0.width = 100 }.first { $0.hasPrefix("  process") }
        }
        let unknown = "  process         not found: it had gone before it was looked up, or is another user's"
        let named = words { $0.extras.process = ClientProcess(id: 7, name: "curl") }
        #expect(named == "  process         curl (process 7)")
        #expect(words { _ in } == unknown)
        #expect(words { $0.clientAddress = "[::1]:50000" } == unknown)
        #expect(words { $0.clientAddress = "192.0.2.1:50000" } == nil)
        #expect(words { $0.extras.origin = "har: a.har" } == nil)
        // It may still be found.
        #expect(words { $0.state = .inFlight } == nil)
    }
}
