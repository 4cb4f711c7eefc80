import Content
import HTTPModel
package import Masking
import NIOCore
package import Recording
package import Sharing
import Text

/// What differs between two exchanges or two sessions, as text for people and as JSON.
package enum DifferenceReport {
    private static let width = 100
    private static let placeWidth = 34
    private static let shownEndpoints = 50
    private static let shownPlaces = 12
    private static let shownValue = 60

    /// A session by the name that the user gave it.
    package struct Named {
        package var name: String
        package var reader: SessionReader

        package init(_ name: String, _ reader: SessionReader) { (self.name, self.reader) = (name, reader) }
    }

    // MARK: - What is left out

    /// What is not compared, in a sentence.
    private static func rules(_ rules: ComparisonRules, named: [String]) -> String {
        var parts: [String] = []
        if rules.ignoresVolatile {
            parts.append(
                "times, identifiers, and fields that differ in every exchange, such as Date (--exact compares them)"
            )
        }
        if !named.isEmpty { parts.append(named.map(VisibleText.of).joined(separator: ", ")) }
        return parts.isEmpty ? "Nothing is ignored." : "Ignored: \(parts.joined(separator: "; "))."
    }

    /// What is not compared, and how many differences that took.
    package static func leftOut(
        _ rules: ComparisonRules,
        named: [String],
        _ counts: [ComparisonRules.Reason: Int]
    ) -> String { self.rules(rules, named: named) + self.counts(counts) }

    private static func counts(_ leftOut: [ComparisonRules.Reason: Int]) -> String {
        let words: [(ComparisonRules.Reason, String)] = [
            (.moment, "time"), (.identifier, "identifier"), (.field, "header value"), (.named, "as you named"),
        ]
        let parts = words.compactMap { reason, word in
            leftOut[reason].map { word.hasPrefix("as ") ? "\($0.grouped) \(word)" : $0.of(word) }
        }
        return parts.isEmpty ? "" : " Ignored: \(parts.joined(separator: ", "))."
    }

    // MARK: - Two sessions

    package static func text(
        _ difference: SessionDifference,
        _ old: Named,
        _ new: Named,
        _ rules: ComparisonRules,
        named: [String]
    ) -> String {
        var lines = [
            "- \(VisibleText.of(old.name)): \(difference.old.of("exchange"))",
            "+ \(VisibleText.of(new.name)): \(difference.new.of("exchange"))",
            "",
            "\(difference.pairs.of("pair")): \(percent(difference.pairs, of: difference.old)) of the first session, "
                + "\(percent(difference.pairs, of: difference.new)) of the second.",
        ]
        if difference.pairs > 0 {
            let rest = difference.pairs - difference.sameURL
            lines.append(
                "Confidence \(difference.confidence.rawValue): \(percent(difference.sameURL, of: difference.pairs)) have the "
                    + "same URL\(rest > 0 ? "; \(rest.grouped) were paired by their order alone" : "")."
            )
        }
        if difference.outOfOrder > 0 { lines.append("\(difference.outOfOrder.of("pair")) came in another order.") }
        lines.append(self.rules(rules, named: named) + counts(difference.leftOut))
        lines.append("")
        for endpoint in difference.endpoints.prefix(shownEndpoints) { lines += self.lines(endpoint) + [""] }
        if difference.endpoints.count > shownEndpoints {
            let rest = difference.endpoints.count - shownEndpoints
            lines += ["and \(rest.of("more endpoint")); --json has more", ""]
        }
        lines.append(summary(difference))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func summary(_ difference: SessionDifference) -> String {
        guard !difference.isSame else { return "They behave the same." }
        var parts: [String] = []
        if difference.changed > 0 {
            parts.append("\(difference.changed.of("pair")) differ\(difference.changed == 1 ? "s" : "")")
        }
        if difference.onlyOld > 0 { parts.append("\(difference.onlyOld.of("exchange")) only in the first session") }
        if difference.onlyNew > 0 { parts.append("\(difference.onlyNew.of("exchange")) only in the second") }
        return "The behaviour changed: \(parts.joined(separator: ", "))."
    }

    private static func lines(_ endpoint: SessionDifference.Endpoint) -> [String] {
        let key = endpoint.key
        let name = VisibleText.of("\(key.method.isEmpty ? "(no request)" : key.method) \(key.host)\(key.path)")
        guard endpoint.pairs > 0 else { return [name] + onlyLines(endpoint) }
        var lines = ["\(name)  \(endpoint.changed.grouped) of \(endpoint.pairs.grouped) pairs differ"]
        for place in endpoint.places.prefix(shownPlaces) {
            let pair = place.exchanges.map { "#\($0)" }.joined(separator: " ~ ")
            let title = TextWidth.padded(VisibleText.of(place.name), to: max(placeWidth, place.name.columns))
            lines.append(
                "  ~ \(String(place.count).aligned(to: 6))  \(title)  \(values(place.old, place.new))  (\(pair))"
            )
        }
        let rest = endpoint.places.count - shownPlaces
        if rest > 0 || endpoint.hasMore { lines.append("    and further places; --json has more") }
        return lines + onlyLines(endpoint)
    }

    private static func onlyLines(_ endpoint: SessionDifference.Endpoint) -> [String] {
        var lines: [String] = []
        if endpoint.onlyOld > 0 {
            lines.append(
                "  - \(String(endpoint.onlyOld).aligned(to: 6))  only in the first\(numbers(endpoint.firstOld, endpoint.onlyOld))"
            )
        }
        if endpoint.onlyNew > 0 {
            lines.append(
                "  + \(String(endpoint.onlyNew).aligned(to: 6))  only in the second\(numbers(endpoint.firstNew, endpoint.onlyNew))"
            )
        }
        return lines
    }

    private static func numbers(_ first: [Int64], _ count: Int) -> String {
        let list = first.map { "#\($0)" }.joined(separator: " ")
        return list.isEmpty ? "" : ": \(list)\(count > first.count ? " …" : "")"
    }

    /// A value and what it became, in one line.
    package static func values(_ old: String?, _ new: String?) -> String {
        func shown(_ value: String?) -> String {
            value.map { $0.isEmpty ? "\"\"" : VisibleText.of($0.shortened(to: shownValue)) } ?? "none"
        }
        return "\(shown(old)) -> \(shown(new))"
    }

    private static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "0 %" }
        // Never 100 where something is missing.
        let tenths = Int((Double(part) / Double(whole) * 1_000).rounded(.down))
        return tenths == 1_000 ? "100 %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// One JSON object and a line feed: `same`, `old` and `new` with `session` and `exchanges`, `pairs`, `sameUrl`, `outOfOrder`,
    /// `coverage`, `confidence`, `changed`, `onlyOld`, `onlyNew`, `ignored`, `leftOut`, and `endpoints`, each with its `differences`:
    /// `place`, `count`, and `old`, `new` and `exchanges` of the first pair that has it. With `mask`, values and paths are
    /// masked: a secret that changed is two placeholders. Throws the sessions' errors.
    package static func json(
        _ difference: SessionDifference,
        _ old: Named,
        _ new: Named,
        _ rules: ComparisonRules,
        named: [String],
        responses version: MessageVersion = .sent,
        mask: ReportMask?
    ) throws -> String {
        let values = try mask.map { mask in
            let pairs = difference.endpoints.flatMap { $0.places.map(\.exchanges) }
            return try MaskedValues(pairs, old.reader, new.reader, version, mask)
        }
        var writer = JSONWriter()
        try writer.object { json in
            json.member("same", difference.isSame)
            for (title, session, count) in [("old", old, difference.old), ("new", new, difference.new)] {
                try json.object(title) {
                    $0.member("session", session.name)
                    $0.member("exchanges", count)
                }
            }
            json.member("pairs", difference.pairs)
            json.member("sameUrl", difference.sameURL)
            json.member("outOfOrder", difference.outOfOrder)
            try json.object("coverage") {
                for (title, count) in [("old", difference.old), ("new", difference.new)] {
                    $0.key(title)
                    let share = count == 0 ? 0 : difference.pairs * 10_000 / count
                    $0.number("\(share / 10_000).\((share % 10_000).padded(to: 4))")
                }
            }
            json.member("confidence", difference.confidence.rawValue)
            json.member("changed", difference.changed)
            json.member("onlyOld", difference.onlyOld)
            json.member("onlyNew", difference.onlyNew)
            try json.ignored(rules, named, difference.leftOut)
            try json.objects("endpoints", difference.endpoints) { json, endpoint in
                json.member("method", endpoint.key.method)
                let url = mask.map { $0.record.masked(endpoint.key.record).url } ?? endpoint.key.record.url
                json.member("host", url.host)
                json.member("path", url.path)
                json.member("pairs", endpoint.pairs)
                json.member("changed", endpoint.changed)
                json.member("onlyOld", endpoint.onlyOld)
                json.member("onlyNew", endpoint.onlyNew)
                try json.objects("differences", endpoint.places) { json, place in
                    json.member("place", place.name)
                    json.member("count", place.count)
                    let shown = values?.values(of: place.name, in: place.exchanges) ?? (place.old, place.new)
                    json.optionalMember("old", shown.0)
                    json.optionalMember("new", shown.1)
                    json.numbers("exchanges", place.exchanges)
                }
                if !endpoint.firstOld.isEmpty { json.numbers("onlyOldExchanges", endpoint.firstOld) }
                if !endpoint.firstNew.isEmpty { json.numbers("onlyNewExchanges", endpoint.firstNew) }
            }
        }
        return String(buffer: writer.buffer) + "\n"
    }

    // MARK: - Two exchanges

    /// The console's page of both exchanges, and what counts of that.
    package static func text(
        _ old: ExchangeDifference.Side,
        _ new: ExchangeDifference.Side,
        names: (String, String)? = nil,
        _ rules: ComparisonRules,
        named: [String],
        responses version: MessageVersion = .sent
    ) throws -> (text: String, isSame: Bool) {
        let difference = try ExchangeDifference(old, new, rules: rules, responses: version)
        let document = Comparison.document(
            old.exchange,
            new.exchange,
            source: old.source,
            secondSource: new.source,
            names: names,
            responses: version,
            width: width,
            budget: DetailBudget(.seconds(86_400))
        )
        var lines = document.lines.map(\.plain) + [""]
        lines.append(self.rules(rules, named: named) + counts(difference.leftOut))
        if difference.isSame {
            lines.append("They behave the same.")
        } else {
            lines.append("The behaviour changed in \(difference.count.of("place")):")
            for change in difference.changes {
                lines.append("  ~ \(VisibleText.of(change.place))  \(values(change.old, change.new))")
            }
            if difference.count > difference.changes.count {
                lines.append("  and \((difference.count - difference.changes.count).grouped) more")
            }
        }
        return (lines.joined(separator: "\n") + "\n", difference.isSame)
    }

    /// One JSON object and a line feed: `same`, `old` and `new` with `session` and `exchange`, `ignored`, `leftOut`, and
    /// `differences` with `place`, `old` and `new`.
    package static func json(
        _ old: ExchangeDifference.Side,
        _ new: ExchangeDifference.Side,
        names: (String, String),
        _ rules: ComparisonRules,
        named: [String],
        responses version: MessageVersion = .sent,
        mask: MaskRules?
    ) throws -> (text: String, isSame: Bool) {
        let plain = try ExchangeDifference(old, new, rules: rules, responses: version)
        let masked = try mask.map { try MaskedValues.difference(old, new, version, $0) }
        var writer = JSONWriter()
        try writer.object { json in
            json.member("same", plain.isSame)
            for (title, side, name) in [("old", old, names.0), ("new", new, names.1)] {
                try json.object(title) {
                    $0.member("session", name)
                    $0.member("exchange", side.exchange.record.id.number)
                }
            }
            json.member("count", plain.count)
            try json.ignored(rules, named, plain.leftOut)
            try json.objects("differences", plain.changes) { json, change in
                json.member("place", change.place)
                let shown = masked.map { MaskedValues.values(of: change.place, in: $0) } ?? (change.old, change.new)
                json.optionalMember("old", shown.0)
                json.optionalMember("new", shown.1)
            }
        }
        return (String(buffer: writer.buffer) + "\n", plain.isSame)
    }
}

extension SessionStatistics.Endpoint {
    /// A record with its URL, to be masked.
    fileprivate var record: ExchangeRecord {
        ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: method,
            url: RequestURL(scheme: "https", host: host, port: 443, path: path),
            clientConnection: ConnectionID(1)
        )
    }
}

extension JSONWriter {
    fileprivate mutating func numbers(_ name: String, _ numbers: [Int64]) {
        key(name)
        number("[\(numbers.map(String.init).joined(separator: ","))]")
    }

    /// What is not compared, and how many differences that took.
    fileprivate mutating func ignored(
        _ rules: ComparisonRules,
        _ named: [String],
        _ leftOut: [ComparisonRules.Reason: Int]
    ) throws {
        let fields = ComparisonRules.volatileFields.sorted()
        try strings("ignored", (rules.ignoresVolatile ? ["moments", "identifiers"] + fields : []) + named)
        try object("leftOut") { json in
            for reason in ComparisonRules.Reason.allCases { json.member(reason.rawValue, leftOut[reason] ?? 0) }
        }
    }
}
