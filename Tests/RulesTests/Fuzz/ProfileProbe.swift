import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Tools

/// Reads arbitrary text as a profile, as locations, and as a filter; the first decision says which.
enum ProfileProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        // Whoever reads files has refused what is no text before.
        guard let text = String(validating: input.bytes, as: UTF8.self) else { return }
        try input.choose([profile, profile, locations, filter])(text)
    }

    private static let urls =
        [
            "http://a.example/", "https://b.a.example:8443/v1/users?x=1&y=%20", "wss://[::1]/chat",
            "http://localhost:3000/a//b",
        ].compactMap { RequestURL($0) } + [RequestURL(scheme: "tunnel", host: "a.example", port: 443, path: "")]

    // MARK: - Profiles

    private static func profile(_ text: String) throws {
        let lines = text.unicodeScalars.count { "\r\n\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) } + 2
        func check(_ issues: [ProfileIssue]) throws {
            for issue in issues {
                try demand((1...lines).contains(issue.line), "line \(issue.line) of \(lines): \(issue)")
                try demand(issue.column >= 1 && issue.column <= text.utf8.count + 2, "column of \(issue)")
                try demand(!issue.message.isEmpty, "no message at \(issue)")
            }
        }
        let profile: RuleProfile
        do throws(ProfileError) {
            profile = try RuleProfile(text, file: "p.yaml")
        } catch {
            try demand(error.issues.contains { $0.severity == .error }, "refused without an error")
            try check(error.issues)
            return
        }
        try check(profile.lints)
        _ = profile.listing
        _ = profile.listingJSON
        for url in urls { try decide(url, profile) }
        try again(profile)
    }

    /// What a tool says about a request is what its rules say.
    private static func decide(_ url: RequestURL, _ profile: RuleProfile) throws {
        let isTunnel = url.scheme == "tunnel"
        let target = isTunnel ? url.authority : url.pathAndQuery
        let head = RequestHead(method: isTunnel ? "CONNECT" : "GET", target: target)
        let opening = ExchangeOpening(id: ExchangeID(1), url: url, head: head, clientAddress: "127.0.0.1:1")
        for stage in profile.chain(without: []).stages { _ = stage.handler(for: opening) }
        for tool in profile.tools {
            for (rule, shadow) in tool.shadows
            where tool.rules[rule].scope.matches(method: opening.head.method, url: opening.url) {
                let covers = tool.rules[shadow].scope.matches(method: opening.head.method, url: opening.url)
                try demand(covers, "\(tool.rules[shadow].scope.text) does not cover \(tool.rules[rule].scope.text)")
            }
            for heading in tool.rules {
                let isMatch = heading.scope.matches(method: opening.head.method, url: opening.url)
                try demand((heading.scope.mismatch(opening) == nil) == isMatch, "\(heading.scope.text) and \(url)")
            }
        }
        _ = Explanation([], of: opening, ConditionFacts(opening), by: profile, without: []).text(isWhole: true)
    }

    /// The same text says the same once more.
    private static func again(_ profile: RuleProfile) throws {
        guard let second = try? RuleProfile(sources: profile.sources) else {
            throw ProbeError(description: "read twice, it is refused")
        }
        try demand(second.lints == profile.lints && second.summary == profile.summary, "read twice, it differs")
    }

    // MARK: - Locations

    private static func locations(_ text: String) throws {
        let locations = text.split(separator: "\n", maxSplits: 4).compactMap { try? Location($0) }
        for location in locations {
            for url in urls {
                let isMatch = location.matches(url)
                try demand((location.mismatch(url) == nil) == isMatch, "\(location) and \(url)")
                try demand((location.captures(url) == nil) != isMatch, "\(location) has captures of \(url)")
            }
            try demand(location.covers(location), "\(location) does not cover itself")
            guard let read = try? Location(location.description) else {
                throw ProbeError(description: "\(location.pattern) is printed as \(location), which is none")
            }
            for url in urls {
                try demand(read.matches(url) == location.matches(url), "\(location.pattern) is printed as \(location)")
            }
        }
        for wide in locations {
            for narrow in locations where wide.covers(narrow) {
                for url in urls where narrow.matches(url) {
                    try demand(wide.matches(url), "\(wide) does not cover \(narrow): \(url)")
                }
            }
            for other in locations where wide.hasDisjointHost(from: other) {
                for url in urls where wide.matches(url) {
                    try demand(!other.matches(url), "\(wide) and \(other) have \(url) in common")
                }
            }
        }
    }

    // MARK: - Filters

    private static func filter(_ text: String) throws {
        let filter: Filter
        do throws(FilterError) {
            filter = try Filter(text)
        } catch {
            let length = error.expression.unicodeScalars.count
            try demand((1...(length + 1)).contains(error.column), "column \(error.column) of \(length)")
            try demand(!error.message.isEmpty, "no message")
            _ = error.pointing
            return
        }
        for url in urls {
            let record = ExchangeRecord(
                id: ExchangeID(1),
                kind: .http,
                startedAt: 0,
                method: "GET",
                url: url,
                clientConnection: ConnectionID(1)
            )
            _ = filter.decides(record)
        }
        let printed = filter.description
        guard let read = try? Filter(printed) else {
            throw ProbeError(description: "\(text) is printed as \(printed), which is none")
        }
        try demand(read.description == printed, "\(printed) is printed as \(read.description)")
    }
}
