import Foundation
import HTTPModel
import Support
import Testing

extension UserStories {
    @Suite("Shipped profiles")
    struct ShippedProfileStories {
        @Test("Every shipped profile does to real traffic what it says", arguments: try ProfileBench.shipped())
        func profile(name: String) async throws {
            let play = try #require(ShippedProfileStories.cases[name], "there is no case for \(name)")
            try await play(try await ProfileBench(name))
        }

        @Test("Every shipped profile passes its check and its own tests, and there are a dozen")
        func checked() async throws {
            let names = try ProfileBench.shipped()
            #expect(names.count >= 12)
            #expect(Set(names) == Set(ShippedProfileStories.cases.keys))
            let scratch = try Scratch()
            let paths = names.map { ProfileBench.directory + "/" + $0 }
            for command in ["check", "test", "show"] {
                for path in paths {
                    let outcome = try await SluiceProcess.run(["profile", command, path], scratch: scratch)
                    #expect(outcome.status == 0, "\(command) \(path): \(outcome.text)\(outcome.errors)")
                    #expect(!outcome.text.contains("lint:") && !outcome.errors.contains("lint:"), "\(path)")
                }
            }
        }

        private typealias Play = @Sendable (ProfileBench) async throws -> Void

        private static let cases: [String: Play] = edits.merging(answers) { $1 }.merging(networks) { $1 }

        // MARK: - Edits

        private static let edits: [String: Play] = [
            "add-header.yaml": { bench in
                let sluice = try await bench.start()
                let fields = ["Cookie: _ga=1", "X-Debug: 1", "User-Agent: app/2.0 (phone)"].flatMap { ["-H", $0] }
                let answers = try await sluice.answers(
                    ["api.example.com", "www.example.com"].map { ["--compressed"] + fields + [bench.url($0)] }
                )
                #expect(answers.map { $0.value("X-Sluice") } == ["seen", "seen"])
                let (api, other) = (ReportingNginx.Report(answers[0].text), ReportingNginx.Report(answers[1].text))
                #expect(api["test"] == "1")
                #expect(api["agent"] == "app/2.0 (through Sluice)")
                #expect(api["cookie"] == "")
                #expect(api["debug"] == "")
                #expect(other["test"] == "")
                #expect(other["agent"] == "app/2.0 (phone)")
                #expect(other["cookie"] == "_ga=1")
            },
            "no-cache.yaml": { bench in
                let sluice = try await bench.start()
                let answers = try await sluice.answers(
                    ["www.example.com", "fonts.gstatic.com"].map {
                        ["--compressed", "-H", "If-None-Match: x", bench.url($0)]
                    }
                )
                #expect(answers.map { $0.value("Cache-Control") } == ["no-cache", "max-age=100"])
                #expect(answers.map { $0.values("ETag").count } == [0, 1])
                #expect(answers.map { ReportingNginx.Report($0.text)["match"] } == ["", "x"])
            },
            "rewrite-response.yaml": { bench in
                let sluice = try await bench.start()
                let me = try await sluice.answer("--compressed", bench.url("api.example.com", "/v1/me"))
                #expect(me.text == "{\"plan\":\"pro\",\"was\":\"free\", \"trial\":false}", "\(me.text)")
                #expect(me.value("X-Sluice") == "plan changed")
                let items = try await sluice.report(bench.url("api.example.com", "/v1/items?per_page=100"))
                #expect(items["url"] == bench.url("api.example.com", "/v1/items?per_page=10"))
                let orders = try await sluice.report(bench.url("api.example.com", "/v1/orders/7"))
                #expect(orders["url"] == bench.url("staging.example.com", "/v2/orders/7"))
                // This rule is off until somebody wants it.
                #expect(try await sluice.answer(bench.url("api.example.com", "/v1/pay")).status == 200)
            },
            "strip-cookies.yaml": { bench in
                let sluice = try await bench.start()
                let fields = ["Cookie: a=1", "Authorization: Bearer x"].flatMap { ["-H", $0] }
                let answers = try await sluice.answers(
                    ["www.example.com", "login.example.com"].map {
                        ["--compressed"] + fields + [bench.url($0, "/p?utm_source=x&q=1")]
                    }
                )
                let reports = answers.map { ReportingNginx.Report($0.text) }
                #expect(reports.map { $0["cookie"] } == ["", "a=1"])
                #expect(reports.map { $0["authorization"] } == ["", "Bearer x"])
                #expect(reports[0]["url"] == bench.url("www.example.com", "/p?q=1"))
                #expect(reports[1]["url"] == bench.url("login.example.com", "/p?utm_source=x&q=1"))
                #expect(answers.map { $0.values("Set-Cookie").count } == [0, 2])
            },
            "staging-to-local.yaml": { bench in
                let sluice = try await bench.start(replacing: [
                    "localhost:3000": "localhost:\(bench.nginx.plain)", "port: 3001": "port: \(bench.nginx.plain)",
                ])
                let local = "http://localhost:\(bench.nginx.plain)"
                for (host, path, url) in [
                    ("staging.example.com", "/api/v1/users?page=2", "\(local)/v1/users?page=2"),
                    (
                        "acme.tenants.staging.example.com", "/orders/7",
                        "http://acme.tenants.staging.example.com:\(bench.nginx.secure)/acme/orders/7"
                    ),
                    ("live.staging.example.com", "/feed", "\(local)/feed"),
                    ("www.example.com", "/", bench.url("www.example.com", "/")),
                ] {
                    #expect(try await sluice.report(bench.url(host, path))["url"] == url, "\(host)")
                }
            },
            "dns-to-local.yaml": { bench in
                let sluice = try await bench.start()
                let report = try await sluice.report(bench.url("eu.api.example.com", "/v1"))
                #expect(report["place"] == "127.0.0.1:\(bench.nginx.secure)")
                #expect(report["url"] == bench.url("eu.api.example.com", "/v1"))
                #expect(report["sni"] == "eu.api.example.com")
                #expect(try await sluice.exchange().messages.trace.compactMap(\.rule) == ["API"])
            },
        ]

        // MARK: - Answers

        private static let answers: [String: Play] = [
            "allow-only-mine.yaml": { bench in
                let sluice = try await bench.start()
                let answers = try await sluice.answers([
                    [bench.url("www.example.com")], [bench.url("fonts.gstatic.com")], [bench.url("elsewhere.test")],
                    [bench.url("www.example.com", "/collect/beacon")],
                ])
                #expect(answers.map(\.status) == [200, 200, 403, 404])
                #expect(try await bench.nginx.requests(2).count == 2)
            },
            "block-trackers.yaml": { bench in
                let sluice = try await bench.start()
                let answers = try await sluice.answers([
                    [bench.url("www.google-analytics.com")], [bench.url("google-analytics.com")],
                    [bench.url("connect.facebook.net")], [bench.url("ad.doubleclick.net")],
                    [bench.url("www.example.com", "/collect/x")],
                ])
                #expect(answers.map(\.status) == [403, 403, 403, 0, 200])
                #expect(try await bench.nginx.requests(1).count == 1)
            },
            "fail-one-in-five.yaml": { bench in
                let urls = (1...40).map { bench.url("api.example.com", "/call/\($0)") }
                var runs: [[Int]] = []
                for _ in 1...2 {
                    let sluice = try await bench.start()
                    runs.append(try await sluice.answers(urls.map { [$0] }).map(\.status))
                }
                #expect(runs[0] == runs[1])
                #expect(Set(runs[0]).isSubset(of: [200, 503]))
                // None in a hundred thousand series of 40 has as few or as many.
                #expect((1...22).contains(runs[0].count { $0 == 503 }), "\(runs[0])")
            },
            "fixtures.yaml": { bench in
                let sluice = try await bench.start()
                let base = "http://api.example.com/v1/users"
                let answers = try await sluice.answers(
                    [base, base + "/7.json", base + "/0.json", base + "/none.json", "http://payments.example.com/pay"]
                        .map { [$0] }
                )
                #expect(answers.map(\.status) == [200, 200, 404, 404, 503])
                let files = ["v1/users/index.json", "v1/users/7.json", "v1/users/0.json"].map {
                    FileManager.default.contents(atPath: "\(ProfileBench.directory)/fixtures/\($0)").map { Array($0) }
                }
                #expect(answers[..<3].map(\.body) == files)
                #expect(answers[2].value("Content-Type") == "application/problem+json")
                #expect(answers[3].value("Access-Control-Allow-Origin") == "*")
                #expect(answers[4].value("Retry-After") == "30")
                #expect(bench.nginx.requests.isEmpty)
            },
            "hold-login.yaml": { bench in
                let sluice = try await bench.start()
                let url = bench.url("api.example.com", "/login")
                async let pending = sluice.answer("--compressed", "-d", "user=a&password=b", url)
                let request = try await sluice.held(url)
                try await sluice.told("hold", "edit", request, "--header", "X-Note: held")
                try await eventually("the answer is held") { try await sluice.held(url) != request }
                try await sluice.told("hold", "execute", try await sluice.held(url))
                let answer = try await pending
                #expect(answer.status == 200)
                #expect(ReportingNginx.Report(answer.text)["note"] == "held")
                #expect(try await sluice.answer(url).status == 200)
            },
            "mirror-site.yaml": { bench in
                let sluice = try await bench.start()
                let answer = try await sluice.answer("--compressed", bench.url("www.example.com", "/v1/items?page=2"))
                _ = try await sluice.answer(bench.url("www.example.com", "/logout"))
                _ = try await sluice.answer(bench.url("elsewhere.test", "/v1"))
                #expect(try await sluice.stop().status == 0)
                let root = "Profiles/mirrored"
                let host = "www.example.com_\(bench.nginx.secure)"
                #expect(sluice.scratch.bytes("\(root)/\(host)/v1/items?page=2") == answer.body)
                let hosts = try FileManager.default.contentsOfDirectory(atPath: sluice.scratch.path(root))
                #expect(hosts == [host])
                let names = try FileManager.default.contentsOfDirectory(atPath: sluice.scratch.path("\(root)/\(host)"))
                #expect(names == ["v1"])
            },
        ]

        // MARK: - Networks

        private static let networks: [String: Play] = [
            "bandwidth-per-host.yaml": { bench in
                try bench.nginx.scratch.write("www/files/half", noise(500_000))
                let sluice = try await bench.start()
                let answers = try await sluice.answers([
                    [bench.url("api.example.com", "/v1")], [bench.url("api.example.com", "/health")],
                    [bench.url("a.cdn.example.com", "/files/half")], [bench.url("news.example.com", "/events")],
                ])
                #expect(answers.map(\.status) == [200, 200, 200, 200])
                #expect(answers[0].seconds >= 0.119)
                #expect(try await sluice.exchange { $0.url.path == "/health" }.throttles == [])
                // Half a megabyte at 20 Mbit/s, and three events with two gaps.
                #expect(answers[2].seconds >= 0.18)
                #expect(answers[3].seconds >= 0.999)
                #expect(answers[3].text == "data: 1\n\ndata: 2\n\ndata: 3\n\n")
            },
            "flaky-wifi.yaml": { bench in
                try bench.nginx.scratch.write("www/files/some", noise(100_000))
                var runs: [[Bool]] = []
                for _ in 1...2 {
                    let sluice = try await bench.start()
                    let urls = (1...8).map { bench.url("www.example.com", "/files/some?\($0)") }
                    let answers = try await sluice.answers(urls.map { [$0] })
                    runs.append(answers.map { $0.exit == 0 })
                    for answer in answers where answer.exit == 0 { #expect(answer.seconds >= 0.039) }
                    // Once for its conditions, and once more where it made the request fail.
                    #expect(Set(try await sluice.exchange { $0.url.query == "1" }.throttles) == ["café"])
                }
                #expect(runs[0] == runs[1])
            },
            "office-proxy.yaml": { bench in
                let (http, socks) = (try await Tinyproxy(), try await Microsocks())
                let sluice = try await bench.start(replacing: [
                    "proxy.corp.example:3128": "127.0.0.1:\(http.port)",
                    "socks.corp.example:1080": "127.0.0.1:\(socks.port)",
                ])
                let ways = [
                    "www.example.com": "http://127.0.0.1:\(http.port)",
                    "a.lab.example": "socks5://127.0.0.1:\(socks.port)",
                    "intranet.corp.example": nil, "a.near.example": nil,
                ]
                for (host, proxy) in ways {
                    #expect(try await sluice.answer(bench.url(host)).status == 200, "\(host)")
                    #expect(try await sluice.exchange { $0.url.host == host }.upstream?.proxy == proxy, "\(host)")
                }
            },
            "offline.yaml": { bench in
                let sluice = try await bench.start()
                let url = bench.url("www.example.com")
                #expect(try await sluice.answer(url).status == 200)
                try await sluice.told("tool", "on", "throttle")
                let away = try await sluice.answer(url)
                #expect(away.exit != 0)
                #expect(try await sluice.answer("http://localhost:\(bench.nginx.plain)/").status == 200)
                try await sluice.told("tool", "off", "throttle")
                #expect(try await sluice.answer(url).status == 200)
            },
            "slow-3g.yaml": { bench in
                let sluice = try await bench.start()
                #expect(try await sluice.answer(bench.url("www.example.com")).seconds >= 0.399)
                _ = try await sluice.answer("http://localhost:\(bench.nginx.plain)/near")
                #expect(try await sluice.exchange { $0.url.host == "www.example.com" }.throttles == ["3G"])
                #expect(try await sluice.exchange(path: "/near").throttles == [])
            },
            "slow-modem.yaml": { bench in
                let sluice = try await bench.start()
                #expect(try await sluice.answer(bench.url("www.example.com")).seconds >= 0.249)
                #expect(try await sluice.answer(bench.url("far.satellite.example")).seconds >= 0.899)
                #expect(try await sluice.exchange { $0.url.host == "www.example.com" }.throttles == ["modem"])
                #expect(try await sluice.exchange { $0.url.host != "www.example.com" }.throttles == ["far out"])
            },
        ]
    }
}

extension RecordedExchange {
    /// The throttle rules that acted on it.
    fileprivate var throttles: [String] {
        messages.trace.filter { $0.stage == "throttle" && $0.outcome == .fired }.compactMap(\.rule)
    }
}

/// A shipped profile, in a copy, with a server of this machine behind all hosts that it names.
final class ProfileBench: Sendable {
    let nginx: ReportingNginx
    private let name: String

    /// Where the shipped profiles are.
    static let directory = URL(fileURLWithPath: script("")).deletingLastPathComponent()
        .appendingPathComponent("../../Profiles").standardizedFileURL.path

    /// Their names.
    static func shipped() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".yaml") }.sorted()
    }

    init(_ name: String) async throws {
        self.name = name
        nginx = try await ReportingNginx()
    }

    /// The URL of a host and a path at the server's port.
    func url(_ host: String, _ path: String = "/") -> String { "https://\(host):\(nginx.secure)\(path)" }

    /// Starts a proxy with the profile; ports that are fixed in it can be replaced.
    func start(replacing ports: [String: String] = [:]) async throws -> SluiceProcess {
        let scratch = try Scratch()
        try FileManager.default.copyItem(atPath: ProfileBench.directory, toPath: scratch.path("Profiles"))
        var text = String(decoding: scratch.bytes("Profiles/\(name)"), as: UTF8.self)
        for (old, new) in ports {
            #expect(text.contains(old))
            text = text.replacingOccurrences(of: old, with: new)
        }
        try scratch.write("Profiles/\(name)", text)
        // The names of the profiles are nobody's, and are not to be looked up.
        return try await SluiceProcess(
            ["--insecure-upstream", "--profile", scratch.path("Profiles/\(name)")],
            profile: "version: 1\ndns-spoofing: { name: this machine, host: \"*\", address: 127.0.0.1 }\n",
            scratch: scratch
        )
    }
}
