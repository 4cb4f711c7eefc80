import Description
import Foundation
import HTTPModel
import Testing

@Suite("List lines of streams and calls")
struct ExchangeLineTests {
    private func record(_ change: (inout ExchangeRecord) -> Void) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(12),
            kind: .http,
            startedAt: 1_795_262_400_000_000,
            method: "GET",
            url: RequestURL(scheme: "https", host: "h", port: 443, path: "/"),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.status = 200
        change(&record)
        return record
    }

    /// What stands after the URL.
    private func notes(_ change: (inout ExchangeRecord) -> Void) -> String {
        let line = ExchangeLine.human(record(change))
        return String(line.split(separator: "https://h/", omittingEmptySubsequences: false).last ?? "")
    }

    @Test("an exchange that passed unrecorded says so, as text and as JSON")
    func unrecorded() {
        let record = record { _ in }
        let exchange = RecordedExchange(record: record, messages: ExchangeMessages(), isUnrecorded: true)
        #expect(ExchangeLine.human(exchange).hasSuffix("  [not recorded]"))
        #expect(ExchangeLine.json(record, isUnrecorded: true).contains("\"recorded\":false"))
        #expect(!ExchangeLine.json(record).contains("recorded"))
    }

    @Test("count a WebSocket's messages in both directions, from the first moment to the end")
    func webSocket() {
        #expect(notes { $0.kind = .webSocket } == "  [websocket, 0→ 0←]")
        let chat: (inout ExchangeRecord) -> Void = {
            $0.kind = .webSocket
            ($0.tally.fromClient, $0.tally.fromServer) = (12, 30)
            ($0.sizes.responseBody, $0.sizes.responseWire) = (5_000, 5_200)
        }
        #expect(notes(chat) == "  [websocket, 12→ 30←]")
        #expect(ExchangeLine.human(record(chat)).contains("  5.0 KB  "))
        let open = notes {
            chat(&$0)
            $0.state = .inFlight
        }
        #expect(open == "  [websocket, in-flight, 12→ 30←]")
        let gone = notes {
            chat(&$0)
            $0.failure = ExchangeFailure(.clientGone, "gone")
            $0.flags = .held
        }
        #expect(gone == "  [websocket, 12→ 30←, client-gone, held]")
    }

    @Test("count what a stream has carried, on the side that sent something")
    func streams() {
        #expect(notes { $0.mediaType = "text/event-stream" } == "")
        #expect(notes { $0.tally.fromServer = 1 } == "  [1←]")
        let open = notes {
            $0.state = .inFlight
            $0.tally.fromServer = 30
        }
        #expect(open == "  [in-flight, 30←]")
        #expect(notes { $0.tally.fromClient = 3 } == "  [3→]")
    }

    @Test("tell what a gRPC call came to, and count where it was no simple call")
    func grpc() {
        let call: (inout ExchangeRecord) -> Void = { ($0.tally.fromClient, $0.tally.fromServer) = (1, 1) }
        let simple = notes {
            call(&$0)
            $0.grpc = GRPCOutcome(status: 0)
        }
        #expect(simple == "  [grpc OK]")
        #expect(notes { $0.grpc = GRPCOutcome(status: 14) } == "  [grpc UNAVAILABLE]")
        #expect(notes { $0.grpc = GRPCOutcome(status: 99) } == "  [grpc 99]")
        let failed = notes {
            $0.grpc = GRPCOutcome(status: 14, message: "no route\u{1B}[31m to\n\u{9B}host")
            $0.tally.fromServer = 7
        }
        #expect(failed == "  [grpc UNAVAILABLE: no route^[[31m to^J<U+009B>host, 7←]")
        let long = notes { $0.grpc = GRPCOutcome(status: 2, message: String(repeating: "x", count: 9_000)) }
        #expect(long == "  [grpc UNKNOWN: " + String(repeating: "x", count: 99) + "…]")
        let fits = notes { $0.grpc = GRPCOutcome(status: 2, message: String(repeating: "x", count: 100)) }
        #expect(fits == "  [grpc UNKNOWN: " + String(repeating: "x", count: 100) + "]")
    }

    @Test("have counts and outcome as JSON too, without a line break")
    func json() throws {
        let text = ExchangeLine.json(
            record {
                ($0.tally.fromClient, $0.tally.fromServer) = (12, 30)
                $0.grpc = GRPCOutcome(status: 14, message: "down\n")
            }
        )
        #expect(!text.contains("\n"))
        let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["tally"] as? [String: Int] == ["fromClient": 12, "fromServer": 30])
        let grpc = try #require(object["grpc"] as? [String: Any])
        #expect(grpc["status"] as? Int == 14)
        #expect(grpc["name"] as? String == "UNAVAILABLE")
        #expect(grpc["message"] as? String == "down\n")
        let plain = ExchangeLine.json(record { $0.mediaType = "text/html" })
        #expect(!plain.contains("\"grpc\""))
    }
}
