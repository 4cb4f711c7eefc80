package import ExchangeCore
import Foundation
package import HTTPModel
import Text

/// Why each rule of a profile acted on an exchange, or did not.
package struct Explanation: Sendable {
    package struct Line: Sendable {
        package let rule: RuleHeading
        package let verdict: RuleVerdict
        package let location: Location?
        /// Edits that changed nothing, with numbers and reasons.
        package var missedEdits: [String] = []
    }

    package struct ToolLines: Sendable {
        package let tool: ToolOutline
        package let isOff: Bool
        /// What the tool did without a rule.
        package let remarks: [String]
        package let lines: [Line]
    }

    /// In the fixed order.
    package let tools: [ToolLines]

    /// Explains an exchange by its trace and the profile in force; the tools in `off` were switched off.
    ///
    /// `missed` are edits that changed nothing. If a list refused it (`isRefused`), later tools were not asked. `facts`
    /// has the messages, for conditions.
    package init(
        _ trace: [TraceEntry],
        of opening: ExchangeOpening,
        _ facts: ConditionFacts,
        by profile: RuleProfile,
        without off: Set<StageID>,
        missed: [MissedEdit] = [],
        isRefused: Bool = false
    ) {
        func tool(of entry: TraceEntry) -> Tool? { profile.tools.first { $0.tool.key == entry.stage }?.tool }
        let refusing = isRefused ? trace.reversed().lazy.compactMap(tool).first : nil
        tools = profile.tools.map { tool in
            let isOff = off.contains(tool.tool.id)
            let entries = trace.filter { $0.stage == tool.tool.key }
            var fired: [String: [String]] = [:]
            for entry in entries {
                guard let rule = entry.rule else { continue }
                fired[RuleHeading.name(of: rule, among: tool.rules), default: []].append(entry.text)
            }
            let remarks = entries.filter { $0.rule == nil }.map(\.text)
            let changed = Set(entries.compactMap(\.rule))
            var lines = tool.rules.map { heading in
                var verdict = RuleVerdict(heading, opening, facts, isOff: isOff, fired: fired[heading.name] ?? [])
                if verdict.isIdle {
                    if let refusing, tool.tool > refusing {
                        verdict = .notAsked("\(refusing.key) answered before it")
                    } else if heading.isConditional {
                        verdict = .declined(heading.action)
                    } else if let effect = tool.tool.silentEffect {
                        verdict = .fired([effect])
                    } else if !tool.tool.isWholeScope(heading) {
                        verdict = .missed("its condition is not met: \(heading.action)")
                    }
                }
                let locations = heading.scope.locations ?? []
                let location = locations.count > 1 ? locations.first { $0.matches(opening.url) } : nil
                let edits = missed.filter { edit in
                    !changed.contains(edit.rule) && RuleHeading.name(of: edit.rule, among: tool.rules) == heading.name
                }
                let isAsked = verdict.isIdle || verdict.isFired
                let missed = isAsked ? edits.map { "edit \($0.number): \($0.reason)" } : []
                return Line(rule: heading, verdict: verdict, location: location, missedEdits: missed)
            }
            if tool.tool.selection == .first { Explanation.shadow(&lines) }
            return ToolLines(tool: tool, isOff: isOff, remarks: remarks, lines: lines)
        }
    }

    /// If one rule decides, it shadows the later rules that would have acted.
    private static func shadow(_ lines: inout [Line]) {
        let decider =
            lines.firstIndex { $0.verdict.isFired }
            ?? lines.firstIndex { $0.verdict.isIdle && !$0.rule.isConditional }
        guard let decider else { return }
        for later in lines.indices.dropFirst(decider + 1) where lines[later].verdict.isIdle {
            lines[later] = Line(rule: lines[later].rule, verdict: .shadowed(by: lines[decider].rule), location: nil)
        }
    }
}

package enum RuleVerdict: Sendable {
    case fired([String])
    /// It matched, but changed nothing.
    case idle
    /// The rule matched, but its condition left the request to later rules; the text is what it does otherwise.
    case declined(String)
    /// It matched, but an earlier decision skipped it for this reason.
    case notAsked(String)
    /// It did not match, for this reason; `field` is what differs from the nearest location, if that is the reason.
    case missed(String, field: LocationPattern.Field? = nil)
    case shadowed(by: RuleHeading)
    case disabled
    case off

    init(
        _ heading: RuleHeading,
        _ opening: ExchangeOpening,
        _ facts: ConditionFacts,
        isOff: Bool,
        fired: [String]
    ) {
        self =
            if !fired.isEmpty {
                .fired(fired)
            } else if !heading.isEnabled {
                .disabled
            } else if isOff {
                .off
            } else {
                heading.scope.mismatch(opening).map { .missed($0.reason, field: $0.field) }
                    ?? heading.condition.flatMap { facts.mismatch($0) }.map { .missed($0) } ?? .idle
            }
    }

    var isFired: Bool { if case .fired = self { true } else { false } }

    fileprivate var isIdle: Bool { if case .idle = self { true } else { false } }

    package var word: String {
        switch self {
        case .fired: "fired"
        case .idle, .declined: "matched"
        case .notAsked: "not asked"
        case .missed: "not matched"
        case .shadowed: "shadowed"
        case .disabled: "disabled"
        case .off: "off"
        }
    }

    package var texts: [String] {
        switch self {
        case .fired(let texts): texts
        case .idle: ["changed nothing"]
        case .declined(let action): ["left to later rules: \(action)"]
        case .notAsked(let reason), .missed(let reason, _): [reason]
        case .shadowed(let by): ["'\(by.name)' at \(by.place) decided before it"]
        case .disabled: ["the rule has 'enabled: false'"]
        case .off: ["its tool is switched off"]
        }
    }
}

extension RuleScope {
    /// Why a request is out of scope: the first differing field of the nearest location; `nil` if it is in scope.
    package func mismatch(_ opening: ExchangeOpening) -> (reason: String, field: LocationPattern.Field?)? {
        if let locations, !locations.contains(where: { $0.matches(opening.url) }) {
            let order = LocationPattern.Field.allCases
            let mismatches = locations.compactMap { location in location.mismatch(opening.url).map { (location, $0) } }
            func depth(_ mismatch: LocationMismatch) -> Int { order.firstIndex(of: mismatch.field) ?? 0 }
            // `min` returns the first of several equal mismatches.
            guard let (location, mismatch) = mismatches.min(by: { depth($0.1) > depth($1.1) }) else {
                return ("the rule has no location", nil)
            }
            let isOne = locations.count == 1
            let nearest = isOne ? "" : "no match in \(locations.count) locations; the nearest is \(location): "
            return ("\(nearest)\(mismatch)", mismatch.field)
        }
        let method = opening.head.method
        if !methods.isEmpty, !methods.contains(method) {
            let isCase = methods.contains(method.uppercased())
            let hint = isCase ? " (methods are case-sensitive)" : ""
            return ("method: the rule is for \(methods.sorted().joined(separator: ", ")), not \(method)\(hint)", nil)
        }
        return exceptions.first { $0.matches(opening.url) }.map { ("except: \($0) matches \(opening.url)", nil) }
    }
}

extension Explanation {
    /// If a tool has more rules, its rules for other hosts are only counted.
    private static let mostLines = 20

    /// Some lines for each tool; with `isWhole` rules for other hosts are listed too, however many they are.
    package func text(isWhole: Bool = false) -> String {
        guard !tools.isEmpty else { return "The profile has no rules.\n" }
        return tools.map { $0.text(isWhole: isWhole, most: Explanation.mostLines) }.joined(separator: "\n")
    }
}

extension Explanation.ToolLines {
    fileprivate func text(isWhole: Bool, most: Int) -> String {
        var text = "\(tool.tool.key)\(isOff ? " (switched off)" : "")\n"
        for remark in remarks { text += "  • \(VisibleText.of(remark))\n" }
        let isLong = !isWhole && lines.count > most
        var others = 0
        for (number, line) in lines.enumerated() {
            if isLong, case .missed(_, field: .host?) = line.verdict {
                others += 1
                continue
            }
            let mark = line.verdict.isFired ? "✓" : " "
            text += VisibleText.of("\(mark) \(number + 1). \(line.rule.name)  (\(line.rule.place))") + "\n"
            for detail in line.verdict.texts {
                text += "       \(line.verdict.isFired ? "" : "\(line.verdict.word): ")\(VisibleText.of(detail))\n"
            }
            for edit in line.missedEdits { text += "       \(VisibleText.of(edit))\n" }
            if line.verdict.isFired, let location = line.location { text += "       by its location \(location)\n" }
        }
        if others > 0 { text += "  … and \(others) rules for other locations; --all shows them\n" }
        return text
    }
}

extension MissedEdit {
    /// The edit's number in its rule.
    fileprivate var number: String {
        rule.range(of: " #", options: .backwards).map { String(rule[$0.upperBound...]) } ?? ""
    }
}
