import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension UserStories {
    @Suite("Exchanges as spans, in an OTLP receiver that Python's opentelemetry-proto decodes")
    struct SpanStories {
        private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        private static let parent = "00f067aa0ba902b7"
        private static let traced = ["-H", "traceparent: 00-\(trace)-\(parent)-01", "-H", "tracestate: a=1,b=2"]
        /// Nobody listens there, so what uses this proxy fails.
        private static let deadProxy = [
            "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
        ]

        private static func environment(_ more: [String: String] = [:]) -> [String: String] {
            let proxies = Dictionary(uniqueKeysWithValues: deadProxy.map { ($0, "http://127.0.0.1:9") })
            return proxies.merging(["OTEL_BSP_SCHEDULE_DELAY": "50"]) { $1 }.merging(more) { $1 }
        }

        /// Runs `sluice run` with a command to its end, at which all spans are sent at once.
        private func run(
            _ options: [String],
            _ environment: [String: String] = [:],
            command: String = "true",
            scratch: Scratch
        ) async throws -> Program.Outcome {
            let environment = ["OTEL_BSP_SCHEDULE_DELAY": "60000"].merging(environment) { $1 }
            return try await Program.run(
                try SluiceProcess.executable(),
                ["run"] + options + ["--", "sh", "-c", command],
                environment: SluiceProcess.environment(scratch).merging(Self.environment(environment)) { $1 }
            )
        }

        @Test("Each exchange is a span: in the trace of its request, with masked URL, and by a connection of its own")
        func spans() async throws {
            let nginx = try await Nginx()
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let receiver = try await SpanReceiver()
            let sluice = try await SluiceProcess(
                ["--otlp", receiver.url, "--upstream-ca", try await TestAuthority.shared.root],
                environment: Self.environment(),
                profile: "version: 1\nintercept: { except: [ 127.0.0.1 ] }\n"
            )
            let traced = "http://127.0.0.1:\(origin.port)/traced?password=hunter22&page=2"
            let unread = "https://127.0.0.1:\(nginx.securePort)/hello.txt"
            let answers = try await sluice.answers([
                Self.traced + [traced],
                ["-H", "traceparent: 00-\(Self.trace)-\(Self.parent)-00", "http://127.0.0.1:\(origin.port)/unsampled"],
                ["-H", "traceparent: 00-\(Self.trace)-\(Self.parent)-xx", nginx.url("http", "/missing")],
                ["--http2", "-X", "BREW", "https://localhost:\(nginx.securePort)/hello.txt"],
                ["-k", unread], ["http://127.0.0.1:1/"],
            ])
            #expect(answers.map(\.status) == [200, 200, 404, 405, 200, 502])
            let spans = try await receiver.spans(5)
            let end = try await sluice.stop()
            #expect(
                end.status == 0 && end.errors.contains("sluice: 5 spans sent to \(receiver.url)\n"),
                "\(end.errors)"
            )
            #expect(receiver.errors.isEmpty && receiver.spans.count == 5, "\(receiver.errors)")

            let byNumber = Dictionary(uniqueKeysWithValues: spans.map { ($0.attributes["sluice.exchange"] ?? "", $0) })
            let first = try #require(byNumber["1"])
            #expect(first.trace == Self.trace && first.parent == Self.parent && first.state == "a=1,b=2")
            #expect(first.name == "GET" && first.kind == "SPAN_KIND_CLIENT" && first.status == "STATUS_CODE_UNSET")
            let record = try #require(try sluice.records().first)
            #expect(first.start == record.startedAt * 1_000)
            #expect(first.end - first.start == (record.timings.total ?? -1) * 1_000)
            #expect(
                first.attributes.filter { $0.key != "sluice.session" } == [
                    "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(origin.port)",
                    "url.full": "http://127.0.0.1:\(origin.port)/traced?password=sluice-password-1&page=2",
                    "http.response.status_code": "200", "network.protocol.version": "1.1",
                    "network.peer.address": "127.0.0.1", "network.peer.port": "\(origin.port)", "sluice.exchange": "1",
                ]
            )
            #expect(
                first.numbers.sorted() == [
                    "http.response.status_code", "network.peer.port", "server.port", "sluice.exchange",
                ]
            )
            let identity = try sluice.reader().identity().identifier.uuidString.lowercased()
            #expect(spans.allSatisfy { $0.attributes["sluice.session"] == identity })
            #expect(origin.heads.first?.contains("\r\ntraceparent: 00-\(Self.trace)-\(Self.parent)-01\r\n") == true)

            #expect(byNumber["2"] == nil, "it is not sampled")
            let missing = try #require(byNumber["3"])
            #expect(missing.parent.isEmpty && missing.trace != Self.trace && missing.status == "STATUS_CODE_ERROR")
            #expect(missing.attributes["error.type"] == "404")
            let other = try #require(byNumber["4"])
            #expect(other.name == "HTTP" && other.attributes["http.request.method"] == "_OTHER")
            #expect(other.attributes["http.request.method_original"] == "BREW")
            #expect(other.attributes["network.protocol.version"] == "1.1")
            let tunnel = try #require(byNumber["5"])
            #expect(tunnel.name == "CONNECT" && tunnel.attributes["url.full"] == nil)
            #expect(tunnel.attributes["server.port"] == "\(nginx.securePort)" && tunnel.status == "STATUS_CODE_UNSET")
            let failed = try #require(byNumber["6"])
            #expect(failed.attributes["error.type"] == "connect" && failed.message.contains("refused"), "\(failed)")
            #expect(Set(spans.map(\.span)).count == 5 && Set(spans.map(\.trace)).count == 5)

            let requests = receiver.requests
            #expect(requests.allSatisfy { $0.path == "/v1/traces" && $0.headers["content-encoding"] == "gzip" })
            #expect(requests.allSatisfy { $0.headers["content-type"] == "application/x-protobuf" })
            #expect(requests[0].resource == ["service.name": "sluice", "service.version": "0.2.0"])
            #expect(try sluice.records().count == 6, "the connection to the receiver is not recorded")
            for (filter, numbers) in [
                ("trace-id:\(Self.trace.prefix(8))", ["1", "2", "3"]),
                ("trace-id:\(Self.trace) !status:404", ["1", "2"]), ("trace-id:*", ["1", "2", "3"]),
                ("trace-id:bf9", []),
            ] {
                let list = try await sluice.told("list", sluice.session, filter, "--json")
                let found = try list.split(separator: "\n").map { try object(String($0))["id"].map { "\($0)" } }
                #expect(found == numbers, "\(filter): \(list)")
            }
        }

        @Test("A 503 is tried again after its Retry-After, and a receiver that is down until it is up: each span once")
        func retries() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let port = try unusedPort()
            let sluice = try await SluiceProcess(
                ["--otlp", "http://127.0.0.1:\(port)"],
                environment: Self.environment()
            )
            func request(_ path: String) async throws {
                _ = try await sluice.answer("http://127.0.0.1:\(origin.port)\(path)")
            }
            try await request("/a")
            let problem = "sluice: OTLP receiver http://127.0.0.1:\(port): Connection refused (trying again)\n"
            try await eventually("the receiver is missed") { sluice.errors.contains(problem) }
            try await request("/b")
            let receiver = try await SpanReceiver(["--port", "\(port)", "--answers", "503:1", "429", "200"])
            _ = try await receiver.spans(2)
            let status = try await sluice.told("status")
            #expect(status.contains("spans      2 sent, 0 waiting\n"), "\(status)")
            let json = try object(try await sluice.told("status", "--json"))
            #expect((json["spans"] as? [String: Any])?["sent"] as? Int == 2, "\(json)")
            let end = try await sluice.stop()
            #expect(end.errors.contains("2 spans sent") && !end.errors.contains("NOT sent"), "\(end.errors)")
            #expect(end.errors.ranges(of: "OTLP receiver").count == 1, "\(end.errors)")
            let requests = receiver.requests
            #expect(requests.prefix(2).map(\.answer) == ["503:1", "429"])
            #expect(Set(requests.prefix(3).map { $0.spans.map(\.span) }).count == 1, "attempts differ")
            #expect(receiver.spans.map { $0.attributes["url.full"]?.suffix(2) } == ["/a", "/b"])
        }

        @Test("A Retry-After holds at the end of a run, too; spans that follow each other use one connection")
        func retryAfter() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let receiver = try await SpanReceiver(["--answers", "503:2", "200"])
            let command = "curl -s http://127.0.0.1:\(origin.port)/1 http://127.0.0.1:\(origin.port)/2"
            let outcome = try await run(
                ["--otlp", receiver.url],
                ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1"],
                command: command,
                scratch: Scratch()
            )
            #expect(outcome.errors.contains("sluice: 2 spans sent to \(receiver.url)\n"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("NOT sent"), "\(outcome.errors)")
            let requests = receiver.requests
            try #require(requests.count == 3 && receiver.spans.count == 2, "\(requests)")
            #expect(requests[1].time - requests[0].time >= 2)
            #expect(requests[1].connection == requests[2].connection)
        }

        @Test("Spans that a receiver refuses are counted, and its words obey no terminal")
        func refused() async throws {
            let scratch = try Scratch()
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let command = "for path in 1 2 3; do curl -s http://127.0.0.1:\(origin.port)/$path; done"
            let partial = try await SpanReceiver(["--answers", "reject:1"])
            let some = try await run(["--quiet", "--otlp", partial.url], command: command, scratch: scratch)
            #expect(
                some.status == 0 && some.errors.contains("1 of 3 spans rejected: too old^[[31m\n"),
                "\(some.errors)"
            )
            #expect(some.errors.contains("sluice: 2 spans sent to \(partial.url)\n"), "\(some.errors)")
            #expect(some.errors.contains("sluice: NOT sent: 1 span (1: not accepted)\n"), "\(some.errors)")
            let strict = try await SpanReceiver(["--answers", "400"])
            let none = try await run(["--otlp", strict.url], command: command, scratch: scratch)
            #expect(none.status == 0 && none.errors.contains("3 spans not accepted: 400 Bad Request: not now\n"))
            #expect(none.errors.contains("NOT sent: 3 spans (3: not accepted)") && strict.requests.count == 1)
        }

        @Test("A receiver that takes nothing holds nothing up, and the queue has its limit")
        func slow() async throws {
            let scratch = try Scratch()
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let silent = try Origin { _, socket in while try !socket.receive().isEmpty {} }
            let command = "for path in 1 2 3 4 5 6 7 8; do curl -s http://127.0.0.1:\(origin.port)/$path; done"
            let environment = ["OTEL_BSP_MAX_QUEUE_SIZE": "3"]
            let outcome = try await run(
                ["--otlp", "http://127.0.0.1:\(silent.port)"],
                environment,
                command: command,
                scratch: scratch
            )
            #expect(outcome.status == 0 && origin.heads.count == 8)
            let lost = outcome.errors.firstMatch(
                of: /NOT sent: 8 spans \(([0-9]): the queue was full; ([0-9]): the time was up\)/
            )
            let counts = lost.map { (Int($0.1) ?? 0, Int($0.2) ?? 0) }
            #expect(counts.map { $0.0 >= 2 && $0.0 + $0.1 == 8 } == true, "\(outcome.errors)")
        }

        @Test("The environment names receiver, headers, certificate and service, but only for --otlp")
        func environment() async throws {
            let scratch = try Scratch()
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let certificate = try await TestAuthority.shared.good
            let files = ["--certificate", certificate.file, "--key", certificate.key]
            let receiver = try await SpanReceiver(files)
            let command = "curl -s http://127.0.0.1:\(origin.port)/a; curl -s http://127.0.0.1:\(origin.port)/b"
            var environment = [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "https://localhost:\(receiver.port)/base",
                "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
                "OTEL_SERVICE_NAME": "shop", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
            ]
            let unasked = try await run([], environment, command: command, scratch: scratch)
            #expect(unasked.status == 0 && !unasked.errors.contains("span"), "\(unasked.errors)")
            let untrusting = try await run(["--otlp"], environment, command: command, scratch: scratch)
            #expect(untrusting.status == 0 && untrusting.errors.contains("NOT sent: 2 spans"), "\(untrusting.errors)")
            #expect(receiver.requests.isEmpty)
            environment["OTEL_EXPORTER_OTLP_CERTIFICATE"] = try await TestAuthority.shared.root
            let sent = try await run(["--otlp"], environment, command: command, scratch: scratch)
            #expect(sent.errors.contains("2 spans sent to https://localhost:\(receiver.port)\n"), "\(sent.errors)")
            #expect(receiver.spans.count == 2 && receiver.errors.isEmpty)
            let request = try #require(receiver.requests.first)
            #expect(request.path == "/base/v1/traces" && request.headers["x-key"] == "a b")
            #expect(request.headers["content-encoding"] == nil)
            #expect(request.resource["service.name"] == "shop")
            #expect(request.resource["deployment.environment.name"] == "test")
        }

        @Test(
            "What cannot work is refused at the start, with exit code 2",
            arguments: [
                (["--otlp", "localhost:4318"], [:], "--otlp is not an http or https URL"),
                (["--otlp"], ["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"], "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'"),
                (["--otlp"], ["OTEL_EXPORTER_OTLP_CERTIFICATE": "/none"], "OTEL_EXPORTER_OTLP_CERTIFICATE: "),
                (["--otlp", "http://localhost:8123", "--listen", "8123"], [:], "--otlp leads to this Sluice itself."),
            ] as [([String], [String: String], String)]
        )
        func wrong(options: [String], environment: [String: String], words: String) async throws {
            let outcome = try await run(options, environment, scratch: Scratch())
            #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome)")
        }
    }
}

/// A real OTLP receiver.
private final class SpanReceiver: Sendable {
    let port: Int
    private let program: Program

    struct Span: Decodable {
        let trace, span, parent, state, name, kind, status, message: String
        let start, end: Int64
        let attributes: [String: String]
        /// The keys whose values are numbers.
        let numbers: [String]
    }

    struct Request: Decodable {
        let path, answer: String
        let connection: Int
        /// In seconds, from any moment.
        let time: Double
        let headers: [String: String]
        var resource: [String: String] = [:]
        var spans: [Span] = []
        /// What is wrong with it.
        var error: String?

        enum CodingKeys: CodingKey { case path, answer, connection, time, headers, resource, spans, error }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            path = try members.decode(String.self, forKey: .path)
            answer = try members.decode(String.self, forKey: .answer)
            connection = try members.decode(Int.self, forKey: .connection)
            time = try members.decode(Double.self, forKey: .time)
            headers = try members.decode([String: String].self, forKey: .headers)
            resource = try members.decodeIfPresent([String: String].self, forKey: .resource) ?? [:]
            spans = try members.decodeIfPresent([Span].self, forKey: .spans) ?? []
            error = try members.decodeIfPresent(String.self, forKey: .error)
        }
    }

    init(_ arguments: [String] = []) async throws {
        let program = try Peers.start("otlp_receiver.py", arguments)
        self.program = program
        try await eventually("the receiver listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "it ended with \(status): \(program.errors)")
            }
            return program.output.contains("\n")
        }
        port = program.output.prefix { $0 != "\n" }.split(separator: " ").first.flatMap { Int($0) } ?? 0
    }

    deinit { program.signal(SIGKILL) }

    var url: String { "http://127.0.0.1:\(port)" }

    var requests: [Request] {
        program.output.split(separator: "\n").dropFirst().compactMap {
            try? JSONDecoder().decode(Request.self, from: Data($0.utf8))
        }
    }

    var errors: [String] { requests.compactMap(\.error) }

    /// The accepted spans.
    var spans: [Span] { requests.filter { $0.answer == "200" }.flatMap(\.spans) }

    /// The same as soon as there are so many.
    func spans(_ count: Int) async throws -> [Span] {
        try await eventually("the receiver has \(count) spans: \(program.output)") { self.spans.count >= count }
        return spans
    }
}
