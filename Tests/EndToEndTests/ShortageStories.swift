import Foundation
import HTTPModel
import Support
import Testing

#if os(Linux)
extension EndToEnd {
    @Suite("Without a free descriptor")
    struct Shortage {
        @Test("Idle connections make room for new ones, and waiting for that costs no processor time")
        func idleClients() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(descriptors: 80)
            let idle = try (0..<90).map { _ in try sluice.connect() }
            try await eventually("it says that clients have to wait") {
                sluice.errors.contains("further clients must wait")
            }
            let (start, before) = (ContinuousClock.now, try sluice.processorTime())
            // The idle connections before it are given up once they were silent for two seconds.
            #expect(try await sluice.get("http://127.0.0.1:\(origin.port)/") == "ok")
            let waited = (ContinuousClock.now - start) / .seconds(1)
            let spent = try sluice.processorTime() - before
            #expect(spent < 0.5 + 0.3 * waited, "\(spent) s of processor time in \(waited) s")
            let closed = try await blocking { try idle.prefix(8).map { try $0.receive() } }
            #expect(closed.allSatisfy { $0.isEmpty }, "the oldest went first")
            #expect(sluice.errors.components(separatedBy: "must wait").count == 2, "it is said once")
            #expect(
                sluice.errors.contains("must wait, because ") && !sluice.errors.contains("reason="),
                "\(sluice.errors)"
            )
        }
    }
}
#endif
