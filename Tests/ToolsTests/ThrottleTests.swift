import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Throttle")
struct ThrottleTests {
    @Test(
        "A download takes its bytes' time, however late the event loop comes",
        arguments: [(56.0, 60_000), (256, 400_000), (1_000, 2_000_000), (10_000, 8_000_000), (100_000, 40_000_000)]
    )
    func download(rate: Double, count: Int) throws {
        for lateness in [TimeAmount.zero, .milliseconds(3), .milliseconds(80)] {
            let flow = ThrottledFlow(try throttle("{ down: \(rate) }"), lateness: lateness)
            flow.request()
            #expect(flow.time == .zero)
            flow.respond(count, by: 60_000)
            flow.finish()
            let head = "HTTP/1.1 200 OK\r\n\r\n".utf8.count
            let expected = Double(count + head) * 8 / rate
            #expect(abs(flow.time.ms - expected) < max(25, lateness.ms))
            #expect(flow.bytes("< part") == count)
            // Not just at the end: at each quarter of the time there is a quarter of the bytes.
            for quarter in 1...3 {
                let moment = TimeAmount.nanoseconds(Int64(expected * 1e6) * Int64(quarter) / 4)
                let share = Double(flow.bytes("< part", until: moment)) / Double(count)
                #expect(abs(share - Double(quarter) / 4) < 0.03)
            }
            flow.dialogue.finish()
        }
    }

    @Test("Utilisation scales the bandwidth, for each direction by itself; uploads are paced too")
    func utilisation() throws {
        let profile = try throttle("{ down: 8000, up: 1000, utilisation: { down: 50, up: 80 } }")
        let down = ThrottledFlow(profile)
        down.request()
        let began = down.time
        down.respond(1_000_000)
        down.finish()
        #expect(abs((down.time - began).ms - 2_000) < 5)
        down.dialogue.finish()

        let up = ThrottledFlow(profile, method: "POST")
        up.upload(200_000)
        while up.step() {}
        #expect(abs(up.time.ms - 2_000) < 10)
        #expect(up.passed.contains { $0.line == "bound client" })
        up.tell { $0.responseHead(204) }
        up.tell { $0.responseEnd() }
        up.finish()
        up.dialogue.finish()
    }

    @Test("Two downloads share the link and get the same")
    func sharing() throws {
        let profile = try throttle("{ down: 2000 }")
        let flows = [1, 2].map { ThrottledFlow(profile, "http://slow.example/\($0)") }
        for flow in flows {
            flow.request()
            flow.respond(500_000)
        }
        // Whoever's time comes first goes first.
        while let flow = flows.filter({ !$0.dialogue.isOver }).min(by: { ($0.next ?? $0.time) < ($1.next ?? $1.time) }),
            flow.step()
        {}
        for flow in flows {
            #expect(abs(flow.time.ms - 4_000) < 20)
            let half = Double(flow.bytes("< part", until: .seconds(2)))
            #expect(abs(half - 250_000) < 3_000)
            flow.dialogue.finish()
        }
    }

    @Test("Latency is added once per request, from the end of its head, on reused connections too")
    func latency() throws {
        let profile = try throttle("{ latency: 300, up: 8 }")
        for second in 1...2 {
            let flow = ThrottledFlow(profile, after: .seconds(Int64(second)))
            flow.request()
            let head = Double("GET / HTTP/1.1\r\nHost: slow.example\r\n\r\n".utf8.count)
            // 8 kbit/s are a byte in a millisecond.
            #expect(abs(flow.time.ms - (head + 300)) < 0.01)
            let sent = flow.time
            flow.respond(100_000)
            flow.finish()
            #expect(flow.time == sent)
            flow.dialogue.finish()
            #expect(flow.dialogue.trace == ["throttle(rule 1): up 8 kbit/s, latency 300 ms"])
        }
    }

    @Test("Only what a rule is for is slowed down; of several rules the first one counts")
    func selection() throws {
        let profile = try throttle(
            """

              - { name: slow, latency: 1000, only: "slow.example" }
              - { name: rest, latency: 10, except: "free.example", method: GET }
            """
        )
        for (url, method, expected) in [
            ("http://slow.example/a", "GET", 1_000.0), ("http://other.example/", "GET", 10),
            ("http://other.example/", "DELETE", 0), ("http://free.example/", "GET", 0),
        ] {
            let flow = ThrottledFlow(profile, url, method: method)
            flow.request()
            #expect(flow.time.ms == expected, "\(method) \(url)")
            flow.respond(10)
            flow.finish()
            flow.dialogue.finish()
        }
    }

    @Test("Bytes go on in multiples of the MTU, about 5 ms' worth, or one of it where that is more")
    func chunks() throws {
        for (rate, size) in [(10_000, 6_000), (100, 1_000)] {
            let flow = ThrottledFlow(try throttle("{ down: \(rate), mtu: 1000 }"))
            flow.request()
            flow.respond(12_000, by: 12_000)
            flow.finish()
            let parts = flow.passed.filter { $0.line.hasPrefix("< part") }
            #expect(parts.map(\.line) == Array(repeating: "< part \(size) bytes", count: 12_000 / size))
            flow.dialogue.finish()
        }
    }

    @Test("Offline fails every request at once, as a network that is not there would")
    func offline() throws {
        let flow = ThrottledFlow(try throttle("{ preset: offline, name: plane }"), "https://a.example/x")
        flow.tell { $0.request() }
        #expect(flow.passed.map(\.line) == ["abort", "finished"])
        flow.dialogue.finish()
        #expect(flow.dialogue.record.state == .failed)
        let failure = flow.dialogue.record.failure
        #expect(failure?.code == .connect)
        #expect(failure?.message == "a.example cannot be reached: the throttle simulates no network.")
        #expect(failure?.hint.contains("plane") == true)
        #expect(flow.dialogue.trace == ["throttle(plane): no network"])
    }

    @Test("Tunnels and WebSockets are paced in both directions")
    func tunnels() throws {
        let profile = try throttle("{ down: 80, up: 8 }")
        let tunnel = ThrottledFlow(profile, "slow.example:443", method: "CONNECT", kind: .tunnel)
        tunnel.request()
        var began = tunnel.time
        tunnel.tell { $0.responsePart(ByteBuffer(repeating: 0, count: 1_000)) }
        while tunnel.bytes("< part") < 1_000, tunnel.step() {}
        #expect(abs((tunnel.time - began).ms - 100) < 0.01)
        tunnel.dialogue.leaveOpen()

        let socket = ThrottledFlow(profile)
        socket.tell { $0.request([("Upgrade", "websocket"), ("Connection", "upgrade")]) }
        while socket.time(of: "connect") == nil, socket.step() {}
        socket.tell { $0.ready() }
        socket.tell { $0.responseHead(101, .none, [("Upgrade", "websocket"), ("Connection", "upgrade")]) }
        while socket.time(of: "tunnel") == nil, socket.step() {}
        began = socket.time
        socket.tell { $0.requestPart(String(repeating: "x", count: 500)) }
        while socket.bytes("> part") < 500, socket.step() {}
        #expect(abs((socket.time - began).ms - 500) < 0.01)
        socket.dialogue.leaveOpen()
    }

    // MARK: - Live changes

    @Test("Switched off and on again, the throttle lets go of what is under way, and takes hold of it again")
    func switching() throws {
        let profile = try throttle("{ down: 8 }")
        let flow = ThrottledFlow(profile)
        flow.request()
        flow.respond(100_000, by: 1_000)
        flow.run(until: .seconds(10))
        let slow = flow.bytes("< part")
        #expect((8_000...10_000).contains(slow))
        profile.switchTools(without: [Tool.throttle.id])
        while flow.left > 50_000, flow.step() {}
        #expect(flow.time <= .milliseconds(10_260))
        profile.switchTools(without: [])
        flow.finish()
        #expect(abs(flow.time.ms - 60_250) < 1_300)
        flow.dialogue.finish()
        let trace = flow.dialogue.trace
        #expect(trace.first == "throttle(rule 1): down 8 kbit/s")
        #expect(trace[1].hasPrefix("throttle: no longer throttled"))
        #expect(trace.last == "throttle(rule 1): from here on: down 8 kbit/s")
    }

    @Test("A response that began while the throttle was off is paced once it is on")
    func switchedOn() throws {
        let profile = try throttle("{ down: 8 }", "off: throttle")
        let flow = ThrottledFlow(profile)
        flow.request()
        flow.respond(2_000, by: 1_000)
        _ = flow.step()
        #expect(flow.bytes("< part") == 1_000)
        #expect(flow.dialogue.trace.isEmpty)
        profile.switchTools(without: [])
        flow.finish()
        #expect(abs(flow.time.ms - 1_000) < 1)
        flow.dialogue.finish()
        #expect(flow.dialogue.trace == ["throttle(rule 1): from here on: down 8 kbit/s"])
    }

    @Test("After a reload what is under way goes on by the rule of the same name, or freely where it is gone")
    func reload() throws {
        let old = try throttle("{ name: a, down: 8 }")
        let first = ThrottledFlow(old, "http://a.example/")
        first.request()
        first.respond(21_000, by: 1_000)
        first.run(until: .seconds(1))
        let new = try throttle("{ name: a, down: 80 }")
        old.wasReplaced(by: new)
        first.finish()
        // A second at 8 kbit/s, then 20 kB at 80.
        #expect(abs(first.time.ms - 3_000) < 300)
        first.dialogue.finish()
        #expect(first.dialogue.trace.last == "throttle(a): from here on: down 80 kbit/s")

        let second = ThrottledFlow(new, "http://a.example/")
        second.request()
        second.respond(1_000_000)
        second.run(until: .seconds(1))
        new.wasReplaced(by: try RuleProfile("version: 1", file: "p.yaml"))
        second.finish()
        #expect(second.time < .milliseconds(1_300))
        second.dialogue.finish()

        let third = ThrottledFlow(old, "http://a.example/")
        third.request()
        third.respond(1_000_000)
        third.finish()
        #expect(third.time == .zero)
        third.dialogue.finish()
    }

    @Test("Going offline cuts what is under way at its next bytes")
    func goingOffline() throws {
        let old = try throttle("{ down: 8000 }")
        let flow = ThrottledFlow(old)
        flow.request()
        flow.respond(1_000_000)
        flow.run(until: .milliseconds(100))
        old.wasReplaced(by: try throttle("{ preset: offline }"))
        flow.finish()
        #expect(flow.time < .milliseconds(200))
        #expect(flow.dialogue.record.failure?.code == .connect)
        #expect(flow.passed.suffix(3).map(\.line) == ["abandon", "abort", "finished"])
        flow.dialogue.finish()
    }

    @Test("A head that takes long is let go as soon as the throttle is off")
    func longHead() throws {
        let profile = try throttle("{ up: 0.008, latency: 600000 }")
        let flow = ThrottledFlow(profile)
        flow.tell { $0.request() }
        flow.run(until: .seconds(2))
        #expect(flow.time(of: "connect") == nil)
        profile.switchTools(without: [Tool.throttle.id])
        flow.run(until: .milliseconds(2_260))
        #expect(flow.time(of: "connect") != nil)
        flow.dialogue.leaveOpen()
    }
}
