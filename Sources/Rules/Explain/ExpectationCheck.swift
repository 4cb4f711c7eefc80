import Content
import ExchangeCore
import Foundation
import HTTPModel
import NIOCore

/// The result of one of a profile's own tests.
package struct ExpectationResult: Sendable {
    package struct Difference: Sendable, Hashable {
        /// The key in the profile: `sends.url`.
        package var what: String
        package var expected: String
        package var came: String
    }

    package let expectation: Expectation
    package let exchange: DryRunExchange
    package let differences: [Difference]

    package var passes: Bool { differences.isEmpty }
}

extension RuleProfile {
    /// Plays the profile's own tests, in order, as one run without a network; nothing is written.
    package func dryRun() -> [ExpectationResult] {
        var dryRun = DryRun(self)
        return settings.expectations.map { expectation in
            let exchange = dryRun.play(expectation.request, expectation.response)
            let differences = expectation.checks.flatMap { $0.differences(from: exchange, self) }
            return ExpectationResult(expectation: expectation, exchange: exchange, differences: differences)
        }
    }

    /// The rules that fired, in the order of their first effect.
    func firedRules(_ trace: [TraceEntry]) -> [FiredName] {
        var fired: [FiredName] = []
        for entry in trace where entry.outcome == .fired {
            guard let tool = registry[key: entry.stage] else { continue }
            let headings = tools.first { $0.tool == tool }?.rules ?? []
            let name = FiredName(tool: tool.id, rule: entry.rule.map { RuleHeading.name(of: $0, among: headings) })
            if !fired.contains(name) { fired.append(name) }
        }
        return fired
    }
}

extension RuleHeading {
    /// The rule for a name in a trace, which may be the name of a part of the rule, as in `small pages #2`.
    package static func name(of traced: String, among headings: [RuleHeading]) -> String {
        if headings.contains(where: { $0.name == traced }) { return traced }
        let part = traced.range(of: " #", options: .backwards).map { String(traced[..<$0.lowerBound]) }
        return part.flatMap { part in headings.contains { $0.name == part } ? part : nil } ?? traced
    }
}

extension Expectation.Check {
    fileprivate typealias Difference = ExpectationResult.Difference

    fileprivate func differences(from exchange: DryRunExchange, _ profile: RuleProfile) -> [Difference] {
        switch self {
        case .fires(let expected):
            // A tool that is named without a rule means any of its rules.
            var came: [FiredName] = []
            for fired in profile.firedRules(exchange.trace) {
                let tool = FiredName(tool: fired.tool, rule: nil)
                let name = !expected.contains(fired) && expected.contains(tool) ? tool : fired
                if !came.contains(name) { came.append(name) }
            }
            return compare("fires", expected.list, came.list, expected == came)
        case .sendsNothing:
            return compare("sends", "nothing", exchange.sentURL?.description ?? "nothing", exchange.sent == nil)
        case .sends(let test): return differences(test, sentIn: exchange)
        case .answers(let test): return differences(test, answeredIn: exchange)
        case .isBlocked(let expected):
            return compare("blocked", "\(expected)", "\(exchange.isBlocked)", expected == exchange.isBlocked)
        case .fails(let expected):
            let came = exchange.failure.map { "true: \($0.message)" } ?? "false"
            return compare("fails", "\(expected)", came, expected == (exchange.failure != nil))
        case .isHeld(let expected):
            let came = Set(exchange.held)
            return compare("held", expected.list, came.list, expected == came)
        }
    }

    private func compare(_ what: String, _ expected: String, _ came: String, _ isSame: Bool) -> [Difference] {
        isSame ? [] : [Difference(what: what, expected: expected, came: came)]
    }

    private func differences(_ test: Expectation.MessageTest, sentIn exchange: DryRunExchange) -> [Difference] {
        guard let sent = exchange.sent, let url = exchange.sentURL else {
            return compare("sends", test.url?.description ?? "a request", "nothing", false)
        }
        var differences: [Difference] = []
        if let method = test.method {
            differences += compare("sends.method", method, sent.head.method, method == sent.head.method)
        }
        differences += compare("sends.url", test.url, [url.description])
        differences += compare("sends.address", test.address, exchange.destination?.address.map { [$0] } ?? [])
        return differences + self.differences("sends", test, sent.head.fields, sent.body)
    }

    private func differences(_ test: Expectation.MessageTest, answeredIn exchange: DryRunExchange) -> [Difference] {
        guard let answered = exchange.answered else {
            let came = exchange.isCutOff ? "the client was cut off" : "no answer"
            return compare("answers", test.status?.description ?? "an answer", came, false)
        }
        let status = answered.head.status
        var differences: [Difference] = []
        if let test = test.status {
            differences += compare("answers.status", test.description, "\(status)", test.passes(status))
        }
        return differences + self.differences("answers", test, answered.head.fields, answered.body)
    }

    private func differences(
        _ side: String,
        _ test: Expectation.MessageTest,
        _ fields: FieldSection,
        _ body: ByteBuffer
    ) -> [Difference] {
        var differences: [Difference] = []
        for (name, value) in test.fields {
            differences += compare("\(side).headers.\(name)", value, fields.values(of: FieldName(name)))
        }
        guard let test = test.body else { return differences }
        let codings = ContentCoding.list(fields.value(of: .contentEncoding))
        let decoded = ContentDecoder.decode(body, codings: codings, limit: DryRun.bodyLimit).bytes
        let text = String(buffer: decoded)
        let isAbsent = if case .absent = test { true } else { false }
        return differences + compare("\(side).body", test, isAbsent && text.isEmpty ? [] : [text])
    }

    private func compare(_ what: String, _ test: ValueTest?, _ values: [String]) -> [Difference] {
        guard let test, !test.passes(values) else { return [] }
        let came = values.isEmpty ? "absent" : values.map { String($0.prefix(1_000)) }.joined(separator: ", ")
        return compare(what, test.description, came, false)
    }
}

extension Sequence where Element == FiredName {
    fileprivate var list: String { "[\(map(\.description).joined(separator: ", "))]" }
}

extension Set<FlowDirection> {
    fileprivate var list: String { isEmpty ? "nothing" : map { "\($0)" }.sorted().joined(separator: ", ") }
}
