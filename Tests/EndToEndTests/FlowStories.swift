import Foundation
import HTTPModel
import Recording
import Support
import Synchronization
import Testing

extension EndToEnd {
    @Suite("Slow and vanishing peers, large bodies")
    struct Flow {
        private static let mebibyte = 1 << 20
        /// The debug build's own needs are well below this; 200 MB of a body are well above.
        private static let bound = 128 << 20

        /// Waits until a count has not grown while one second passed.
        private func settles(_ counter: Counter) async throws -> Int {
            var last = -1
            var since = ContinuousClock.now
            try await eventually("the fast side is stopped", within: 120) {
                let now = counter.value.withLock { $0 }
                if now != last { (last, since) = (now, ContinuousClock.now) }
                return now > 0 && ContinuousClock.now - since > .seconds(1)
            }
            return last
        }

        private final class Counter: Sendable {
            let value = Mutex(0)
        }

        @Test("A client that does not read stops the server, whatever the server has", arguments: ["http", "https"])
        func slowReader(scheme: String) async throws {
            let total = 200 * Self.mebibyte
            let sent = Counter()
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
                let block = [UInt8](repeating: 0x41, count: 1 << 16)
                var left = total
                while left > 0 {
                    let count = try socket.sendSome(block[..<min(left, block.count)], patience: 120_000)
                    left -= count
                    sent.value.withLock { $0 += count }
                }
            }
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let url = scheme == "http" ? "http://127.0.0.1:\(origin.port)/big" : "https://localhost:\(relay.port)/big"
            // A client that begins to read only when told to.
            let go = sluice.scratch.path("go")
            let client = try Program(
                "python3",
                [script("slow_reader.py"), "\(sluice.port)", url, sluice.authority, go]
            )
            let stopped = try await settles(sent)
            #expect(stopped < 40 * Self.mebibyte, "\(stopped) bytes went out though nobody read")
            #expect(try sluice.peakMemory() < Self.bound)
            try sluice.scratch.write("go", "")
            let outcome = try await client.outcome(within: 120)
            #expect(outcome.text == "\(total)", "\(outcome.errors)")
            #expect(try sluice.peakMemory() < Self.bound)
            #expect(try await sluice.exchange(path: "/big").record.sizes.responseBody == Int64(total))
        }

        @Test("A server that does not read stops the uploader")
        func slowServer() async throws {
            let total = 200 * Self.mebibyte
            let mayRead = DispatchSemaphore(value: 0)
            let origin = try Origin { origin, socket in
                socket.limitReceiveBuffer(to: 1 << 16)
                _ = try origin.head(socket)
                _ = mayRead.wait(timeout: .now() + 60)
                var left = total
                while left > 0 {
                    let count = try socket.receive(limit: 1 << 20).count
                    if count == 0 { return }
                    left -= count
                }
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
            }
            let sluice = try await SluiceProcess()
            let sent = Counter()
            let answer = Task {
                try await blocking {
                    let socket = try sluice.connect()
                    try socket.send(
                        "POST http://127.0.0.1:\(origin.port)/up HTTP/1.1\r\nHost: x\r\n"
                            + "Content-Length: \(total)\r\n\r\n"
                    )
                    let block = [UInt8](repeating: 0x42, count: 1 << 16)
                    var left = total
                    while left > 0 {
                        let count = try socket.sendSome(block[..<min(left, block.count)], patience: 120_000)
                        left -= count
                        sent.value.withLock { $0 += count }
                    }
                    _ = try socket.readHead()
                    return latin1(try socket.read(count: 4))
                }
            }
            let stopped = try await settles(sent)
            #expect(stopped < 40 * Self.mebibyte, "\(stopped) bytes went in though nobody read")
            mayRead.signal()
            #expect(try await answer.value == "done")
            #expect(try sluice.peakMemory() < Self.bound)
            #expect(try await sluice.exchange(path: "/up").record.sizes.requestBody == Int64(total))
        }

        @Test("A client that goes away in the middle is recorded as gone, and the server is let go")
        func clientGone() async throws {
            let letGo = Counter()
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                _ = try? socket.readToEnd(toleratingReset: true)
                letGo.value.withLock { $0 += 1 }
            }
            let sluice = try await SluiceProcess()
            try await blocking {
                let socket = try sluice.connect()
                try socket.send("GET http://127.0.0.1:\(origin.port)/gone HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try socket.read(until: "half")
                socket.reset()
            }
            let exchange = try await sluice.exchange(path: "/gone")
            #expect(exchange.record.state == .failed)
            #expect(exchange.record.failure?.code == .clientGone)
            #expect(try sluice.body(exchange, .responseReceived) == "half")
            try await eventually("the server is let go") { letGo.value.withLock { $0 } == 1 }
        }

        @Test("A client that goes away in the middle of its upload is recorded, and the server does not get an end")
        func uploaderGone() async throws {
            let got = Received()
            let hasHead = DispatchSemaphore(value: 0)
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                hasHead.signal()
                let bytes = latin1(try socket.readToEnd(toleratingReset: true))
                got.text.withLock { $0 = bytes }
            }
            let sluice = try await SluiceProcess()
            try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "POST http://127.0.0.1:\(origin.port)/gone HTTP/1.1\r\nHost: x\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
                )
                _ = hasHead.wait(timeout: .now() + 10)
                socket.reset()
            }
            let exchange = try await sluice.exchange(path: "/gone")
            #expect(exchange.record.failure?.code == .clientGone)
            try await eventually("the server is let go") { got.text.withLock { $0 } != nil }
            #expect(got.text.withLock { $0 }?.hasSuffix("0\r\n\r\n") == false)
        }

        private final class Received: Sendable {
            let text = Mutex<String?>(nil)
        }

        @Test("A client that closes its side after the request still gets its answer")
        func halfClosed() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send("GET http://127.0.0.1:\(origin.port)/half HTTP/1.1\r\nHost: x\r\n\r\n")
                socket.finish()
                return latin1(try socket.readToEnd())
            }
            #expect(answer.hasSuffix("\r\n\r\nok"), "\(answer)")
        }

        @Test(
            "1 GiB down and up over HTTPS, recorded, within 64 MiB of memory (SLUICE_SLOW_TESTS=1)",
            .enabled(if: ProcessInfo.processInfo.environment["SLUICE_SLOW_TESTS"] == "1")
        )
        func gibibyte() async throws { try await transfer(size: 1 << 30, limit: 64 << 20) }

        @Test("64 MiB down and up over HTTPS, recorded, arrive unchanged")
        func large() async throws { try await transfer(size: 64 << 20, limit: Self.bound) }

        private func transfer(size: Int, limit: Int) async throws {
            let nginx = try await Nginx()
            let file = nginx.scratch.path("www/large")
            let block = noise(1 << 20)
            let handle = try nginx.scratch.newFile("www/large")
            for number in 0..<(size >> 20) {
                // No two blocks alike, so that a lost or doubled one is noticed.
                try handle.write(
                    contentsOf: [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] + block.dropFirst(2)
                )
            }
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let copy = sluice.scratch.path("copy")
            let down = try await sluice.curl(["-o", copy, nginx.url("https", "/large")], within: 120)
            #expect(down.status == 0, "\(down.errors)")
            let up = try await sluice.curl(["-T", copy, nginx.url("https", "/dav/large")], within: 120)
            #expect(up.status == 0, "\(up.errors)")
            let sums = try await Program.run(
                "sha256sum",
                [file, copy, nginx.scratch.path("www/dav/large")],
                within: 120
            ).text
            #expect(Set(sums.split(separator: "\n").map { $0.prefix(64) }).count == 1)
            let peak = try sluice.peakMemory()
            #expect(peak < limit, "\(peak >> 20) MiB")
            for (path, side) in [("/large", BodySide.responseReceived), ("/dav/large", .requestReceived)] {
                let exchange = try await sluice.exchange(path: path)
                #expect(try sluice.reader().bodySize(of: exchange.record.id, side: side) == Int64(size))
            }
            let recorded = sluice.scratch.path("recorded")
            let shown = try await Program.run(
                "bash",
                [
                    "-c", "\"$0\" show \"$1\" 1 --body response --raw > \"$2\" && cmp \"$2\" \"$3\"",
                    try SluiceProcess.executable(), sluice.session, recorded, file,
                ],
                environment: SluiceProcess.environment(sluice.scratch),
                within: 120
            )
            #expect(shown.status == 0, "\(shown.text)\(shown.errors)")
        }
    }
}
