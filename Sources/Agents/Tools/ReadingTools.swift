import Content
import Description
import Foundation
import HTTPModel
import Jobs
import Rules
import Runner

/// The tools that only read.
extension AgentTools {
    static let filter = AgentTool.Parameter(
        name: "filter",
        kind: .text(2_000),
        meaning: "Sluice's filter language, for example: host:api.example.com status:>=400 not path:/health"
    )
    static let page = [
        AgentTool.Parameter(
            name: "offset",
            kind: .integer(0...(1 << 40)),
            meaning: "Where to begin, in bytes; 0 if left out."
        ),
        AgentTool.Parameter(
            name: "length",
            kind: .integer(1...65_536),
            meaning: "How many bytes at most; 16384 if left out."
        ),
    ]
    /// Exchanges' numbers; each is exact in JSON (RFC 8259 §6).
    static let numbers: ClosedRange<Int64> = 1...(1 << 53)
    static func number(_ name: String, _ meaning: String) -> AgentTool.Parameter {
        AgentTool.Parameter(name: name, kind: .integer(Self.numbers), meaning: meaning, isRequired: true)
    }

    var reading: [AgentTool] { [status, list, show, wait, stats, diff, why] }

    private var status: AgentTool {
        AgentTool(
            name: "status",
            title: "Session and proxy",
            meaning: "The session, how many exchanges it has, and with --attach the running proxy and its rules.",
            parameters: []
        ) { _ in
            let (exchanges, newest) = try await session.summary()
            return .members([
                "session": .string(session.path), "exchanges": .integer(exchanges), "newest": .integer(newest),
                "attached": .bool(target != nil), "allowed": .array(allowed.words.map { .string($0) }),
                "running": try await running(),
            ])
        }
    }

    private func running() async throws -> JSON? {
        guard let status = try await target?.status() else { return nil }
        let rules = status.tools.filter { $0.rules > 0 }.map { tool -> JSON in
            ["tool": .string(tool.name), "on": .bool(tool.isOn), "rules": .integer(Int64(tool.rules))]
        }
        return [
            "address": .string(status.address), "version": .string(status.version),
            "recording": .bool(status.recording.isOn && status.recordingProblem == nil), "rules": .array(rules),
            "held": .integer(Int64(status.holds)),
        ]
    }

    private var list: AgentTool {
        AgentTool(
            name: "list",
            title: "List exchanges",
            meaning: "The newest exchanges that fit a filter. Give 'next' of the answer as 'before' to go on.",
            parameters: [
                Self.filter,
                .init(name: "before", kind: .integer(Self.numbers), meaning: "Only exchanges with a lower number."),
                .init(name: "limit", kind: .integer(1...100), meaning: "How many at most; 20 if left out."),
            ]
        ) { arguments in
            let filter = try AgentFilter(arguments.text("filter") ?? "")
            let limit = Int(arguments.integer("limit") ?? 20)
            let (found, next, looked) = try await session.find(
                filter,
                before: arguments.integer("before"),
                limit: limit
            )
            let isCut = next != nil && found.count < limit
            return .members([
                "exchanges": .array(found.map { Self.row($0.record) }), "next": next.map { .integer($0) },
                "remark": isCut
                    ? .string("\(looked) exchanges were looked through; 'before' \(next ?? 0) goes on.") : nil,
            ])
        }
    }

    static func row(_ record: ExchangeRecord) -> JSON {
        .members([
            "number": .integer(record.id.number), "status": .integer(Int64(record.status)),
            "state": .string("\(record.state)"), "kind": .string("\(record.kind)"),
            "ms": record.timings.total.map { .number(Double($0) / 1_000) },
            "requestBytes": .integer(record.sizes.requestBody), "responseBytes": .integer(record.sizes.responseBody),
            "startedAt": .string(Timestamp.iso8601(record.startedAt)),
            "untrusted": .members([
                "method": .string(record.method.cut(to: 40)), "url": .string(record.url.description.cut(to: 2_000)),
                "failure": record.failure.map { .string($0.message.cut(to: 1_000)) },
            ]),
        ])
    }

    private var show: AgentTool {
        AgentTool(
            name: "show",
            title: "Show an exchange",
            meaning: "Heads, bodies and times of an exchange, or the values at a place such as res.json.error.code.",
            parameters: [
                Self.number("number", "The exchange's number."),
                .init(
                    name: "place",
                    kind: .text(500),
                    meaning: "A place: req.header.accept, res.json.items[0].id, req.query.q"
                ),
            ] + Self.page
        ) { arguments in
            let number = arguments.integer("number") ?? 0
            let text: String
            if let written = arguments.text("place") {
                text = try await session.values(number, at: try Self.place(written))
            } else {
                text = try await session.report(number)
            }
            return Self.page(text, arguments, ["number": .integer(number)])
        }
    }

    private static func place(_ text: String) throws(ToolError) -> Place {
        do throws(PlaceError) {
            return try Place(text)
        } catch {
            throw ToolError("'\(text.prefix(60))' is not a place: \(error.description).")
        }
    }

    /// A part of a text, and how to get the rest.
    static func page(_ text: String, _ arguments: AgentTool.Arguments, _ members: [String: JSON] = [:]) -> JSON {
        let bytes = Array(text.utf8)
        func boundary(_ index: Int) -> Int {
            var index = min(index, bytes.count)
            while index < bytes.count, bytes[index] & 0xC0 == 0x80 { index += 1 }
            return index
        }
        let start = boundary(Int(arguments.integer("offset") ?? 0))
        let end = boundary(start + Int(arguments.integer("length") ?? 16_384))
        let own: [String: JSON?] = [
            "offset": .integer(Int64(start)), "total": .integer(Int64(bytes.count)),
            "untrusted": .string(String(decoding: bytes[start..<end], as: UTF8.self)),
            "more": end < bytes.count ? .string("offset=\(end) continues") : nil,
        ]
        return .object(own.compactMapValues(\.self).merging(members) { first, _ in first })
    }

    private var wait: AgentTool {
        AgentTool(
            name: "wait",
            title: "Wait for an exchange",
            meaning:
                "The next exchange after a number that has ended and fits a filter. Other calls are answered meanwhile.",
            parameters: [
                .init(
                    name: "after",
                    kind: .integer(0...Self.numbers.upperBound),
                    meaning: "Only exchanges with a higher number.",
                    isRequired: true
                ),
                Self.filter,
                .init(name: "seconds", kind: .integer(1...60), meaning: "How long at most; 30 if left out."),
            ]
        ) { arguments in
            let filter = try AgentFilter(arguments.text("filter") ?? "")
            var after = arguments.integer("after") ?? 0
            let end = ContinuousClock.now + .seconds(arguments.integer("seconds") ?? 30)
            while true {
                let (found, looked, isAtEnd) = try await session.next(filter, after: after)
                if let found { return ["found": true, "exchange": Self.row(found)] }
                guard ContinuousClock.now < end else { break }
                // Others get their turn between two looks.
                try await Task.sleep(for: .milliseconds(isAtEnd || looked == after ? 200 : 5))
                after = looked
            }
            return ["found": false, "newest": .integer(try await session.summary().newest)]
        }
    }

    private var stats: AgentTool {
        AgentTool(
            name: "stats",
            title: "Count exchanges",
            meaning: "Counts, errors, times and sizes by host and endpoint.",
            parameters: [
                Self.filter,
                .init(name: "by", kind: .choice(["host", "endpoint"]), meaning: "Only this table, with all rows."),
            ]
        ) { arguments in
            let grouping = arguments.text("by").flatMap { StatisticsReport.Grouping(rawValue: $0) }
            let filter = try AgentFilter(arguments.text("filter") ?? "")
            return ["untrusted": .string(try await session.statistics(filter, by: grouping).cut(to: 65_536))]
        }
    }

    private var diff: AgentTool {
        AgentTool(
            name: "diff",
            title: "Compare two exchanges",
            meaning: "Where two exchanges behave differently; times, identifiers and fields such as Date do not count.",
            parameters: [
                Self.number("first", "The older exchange."), Self.number("second", "The newer exchange."),
            ]
        ) { arguments in
            let (first, second) = (arguments.integer("first") ?? 0, arguments.integer("second") ?? 0)
            let (text, isSame) = try await session.difference(first, second)
            return ["same": .bool(isSame), "untrusted": .string(text.cut(to: 65_536))]
        }
    }

    private var why: AgentTool {
        AgentTool(
            name: "why",
            title: "Explain the rules' effect",
            meaning: "What each rule did to an exchange, or why it did not.",
            parameters: [Self.number("number", "The exchange's number.")]
        ) { arguments in
            ["untrusted": .string(try await session.why(arguments.integer("number") ?? 0).cut(to: 65_536))]
        }
    }
}
