import Description
import Dispatch
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs

@Suite("What differs between two sessions")
struct SessionDifferenceTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    struct Request {
        var path: String
        var method = "GET"
        var query: String?
        var status = 200
        var body = "{}"
        var field = ""
    }

    private func session(_ name: String, _ requests: [Request]) throws -> SessionReader {
        // Each one is a file of its own.
        let path = scratch.path("\(UUID().uuidString)-\(name)")
        let recorder = try Recorder(RecorderConfiguration(path: path))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        for (index, request) in requests.enumerated() {
            var record = ExchangeRecord(
                id: ExchangeID(Int64(index + 1)),
                kind: .http,
                startedAt: 1_795_000_000_000_000 + Int64(index),
                method: request.method,
                url: RequestURL(
                    scheme: "https",
                    host: "h.example",
                    port: 443,
                    path: request.path,
                    query: request.query
                ),
                clientConnection: ConnectionID(1)
            )
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(
                string: "\(request.method) \(request.path) HTTP/1.1\r\nHost: h.example\r\n\(request.field)\r\n"
            )
            messages.responseHead = ByteBuffer(
                string: "HTTP/1.1 \(request.status) X\r\nContent-Type: application/json\r\nDate: \(name)\r\n\r\n"
            )
            let opened = RecordEvent.opened(record, messages)
            record.state = .complete
            record.status = request.status
            record.sizes.responseBody = Int64(request.body.utf8.count)
            let events = [
                opened, .body(record.id, .responseReceived, ByteBuffer(string: request.body)),
                .finished(record, messages),
            ]
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        if let error = recorder.close().error { throw error }
        return try SessionReader(path: path)
    }

    private func difference(
        _ old: [Request],
        _ new: [Request],
        _ settings: ComparisonSettings = ComparisonSettings()
    ) throws -> SessionDifference {
        try SessionDifference(try session("a.sluice", old), try session("b.sluice", new), settings)
    }

    @Test("is none where just identifiers, moments and volatile fields differ")
    func same() throws {
        let found = try difference(
            (1...30).map { Request(path: "/orders/\($0)", body: "{\"at\":179500000\($0 % 10),\"ok\":true}") },
            (1...30).map { Request(path: "/orders/\($0 + 500)", body: "{\"at\":179500900\($0 % 10),\"ok\":true}") }
        )
        #expect(found.isSame && found.pairs == 30 && found.sameURL == 0 && found.confidence == .low)
        #expect(found.leftOut[.moment] == 30 && found.leftOut[.identifier] == 30 && found.leftOut[.field] == 30)
        #expect(try difference([Request(path: "/")], [Request(path: "/")]).confidence == .high)
    }

    @Test("pairs requests for the same URL first, in order, and tells what only one session has")
    func pairing() throws {
        let old = [
            Request(path: "/a"), Request(path: "/b", body: "1"), Request(path: "/b", body: "2"),
            Request(path: "/c/1"), Request(path: "/c/2"), Request(path: "/gone", method: "DELETE"),
        ]
        let new = [
            Request(path: "/b", body: "1"), Request(path: "/a"), Request(path: "/c/2"), Request(path: "/b", body: "3"),
            Request(path: "/c/7"), Request(path: "/c/8"), Request(path: "/new", status: 500),
        ]
        let found = try difference(old, new)
        #expect((found.old, found.new, found.pairs, found.sameURL) == (6, 7, 5, 4))
        #expect((found.changed, found.onlyOld, found.onlyNew, found.outOfOrder) == (1, 1, 2, 2))
        let names = found.endpoints.map { "\($0.key.method) \($0.key.path)" }
        #expect(names == ["GET /b", "GET /c/{id}", "DELETE /gone", "GET /new"])
        let body = try #require(found.endpoints.first?.counts.places.first)
        let told = ("\(body.subject)", body.count, body.old, body.new, body.exchanges)
        #expect(told == ("res.json", 1, "2", "3", [3, 4]))
        #expect(found.endpoints[1].onlyNew == 1 && found.endpoints[1].firstNew == [6])
        #expect(found.endpoints[2].firstOld == [6] && found.endpoints[3].firstNew == [7])
    }

    @Test("is the same however many threads look, with the first pair of each place")
    func threads() throws {
        let count = 3_000
        let old = (0..<count).map { Request(path: "/items/\($0)", body: "{\"list\":[{\"v\":\($0)}]}") }
        let new = old.enumerated().map { index, request in
            var request = request
            if index % 10 == 3 { request.body = "{\"list\":[{\"v\":-1}]}" }
            if index % 100 == 7 { request.status = 503 }
            return request
        }
        let found = try difference(old, new)
        #expect(found.pairs == count && found.sameURL == count && found.changed == count / 10 + count / 100)
        let endpoint = try #require(found.endpoints.first)
        #expect(found.endpoints.count == 1 && endpoint.counts.different == found.changed)
        #expect(endpoint.counts.places.map(\.subject.description) == ["res.json.list[*].v", "res.status"])
        #expect(endpoint.counts.places.map(\.count) == [count / 10, count / 100])
        #expect(endpoint.counts.places.map(\.exchanges) == [[4, 4], [8, 8]])
    }

    @Test("is told in words and in JSON, masked on demand")
    func report() throws {
        let secret = "s3cr3t-value-of-a-password"
        let bodies = [("", 1, 5), ("2", 2, 6)].map { suffix, number, element in
            "{\"password\":\"\(secret)\(suffix)\",\"n\":\(number),\"l\":[\(element)]}"
        }
        let old = try session("a.sluice", [Request(path: "/login", body: bodies[0])])
        let new = try session("b.sluice", [Request(path: "/login", body: bodies[1])])
        let settings = ComparisonSettings(ignoring: [.name("took")])
        let found = try SessionDifference(old, new, settings)
        let names = (("a.sluice", old), ("b\u{1B}[2J", new))
        let text = DifferenceReport(settings).text(found, names.0, names.1)
        #expect(text.contains("- a.sluice: 1 exchange\n+ b^[[2J: 1 exchange\n"))
        #expect(text.contains("1 pair: 100 % of the first session, 100 % of the second."))
        #expect(text.contains("Confidence high: 100 % have the same URL."))
        #expect(text.contains("(--exact compares them); took.") && text.contains("1 header value."))
        #expect(text.contains("GET h.example/login  1 of 1 pairs differ"))
        #expect(text.contains("res.json.n") && text.contains("1 -> 2  (#1 ~ #1)") && text.contains(secret))
        #expect(text.hasSuffix("The behaviour changed: 1 pair differs.\n"))
        func object(_ mask: ReportMask?) throws -> (String, [String: Any]) {
            let json = try DifferenceReport(settings).json(found, names.0, names.1, mask: mask)
            return (json, try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]))
        }
        let (plain, members) = try object(nil)
        #expect(plain.contains(secret) && members["same"] as? Bool == false && members["pairs"] as? Int == 1)
        #expect((members["coverage"] as? [String: Double])?["old"] == 1)
        let (masked, _) = try object(ReportMask([old, new], MaskRules()))
        #expect(
            !masked.contains(secret) && masked.contains("sluice-password-1") && masked.contains("sluice-password-2")
        )
        #expect(masked.contains("\"old\":\"1\",\"new\":\"2\""))
        #expect(masked.contains("\"res.json.l[*]\"") && masked.contains("\"old\":\"5\",\"new\":\"6\""), "\(masked)")
    }

    @Test("A value in JSON is masked that only an exchange that is the same names as a secret")
    func knownElsewhere() throws {
        let secret = "maple-otter-of-a-login"
        let login = Request(path: "/login", body: "{\"token\":\"\(secret)\"}")
        let old = try session("a.sluice", [login, Request(path: "/x", body: "{\"v\":\"\(secret)\"}")])
        let new = try session("b.sluice", [login, Request(path: "/x", body: "{\"v\":\"none\"}")])
        let settings = ComparisonSettings()
        let names = (("a", old), ("b", new))
        let found = try SessionDifference(old, new, settings)
        let mask = try ReportMask([old, new], MaskRules())
        let json = try DifferenceReport(settings).json(found, names.0, names.1, mask: mask)
        #expect(json.contains("sluice-token-1") && !json.contains(secret), "\(json)")
    }

    @Test("The longest rise counts what stands in order")
    func rise() {
        #expect(SessionDifference.longestRise([]) == 0)
        #expect(SessionDifference.longestRise([1, 2, 3]) == 3)
        #expect(SessionDifference.longestRise([3, 2, 1]) == 1)
        #expect(SessionDifference.longestRise([2, 1, 4, 3, 5]) == 3)
    }
}
