package import Content
package import Description
package import HTTPModel
package import Masking
import NIOCore
package import Recording
import Text

package struct DifferenceReport {
    private static let width = 100
    private static let shownEndpoints = 50
    private static let shownPlaces = 12

    private let settings: ComparisonSettings

    package init(_ settings: ComparisonSettings) { self.settings = settings }

    /// A session by the name that the user gave it.
    package typealias Named = (name: String, reader: SessionReader)

    package func text(_ difference: SessionDifference, _ old: Named, _ new: Named) -> String {
        let pairs = difference.pairs
        var lines = [
            "- \(VisibleText.of(old.name)): \(difference.old.of("exchange"))",
            "+ \(VisibleText.of(new.name)): \(difference.new.of("exchange"))",
            "",
            "\(pairs.of("pair")): \(Self.percent(pairs, of: difference.old)) of the first session, "
                + "\(Self.percent(pairs, of: difference.new)) of the second.",
        ]
        if pairs > 0 {
            let rest = pairs - difference.sameURL
            lines.append(
                "Confidence \(difference.confidence.rawValue): \(Self.percent(difference.sameURL, of: pairs)) have the same URL"
                    + (rest > 0 ? "; \(rest.grouped) were paired by their order alone." : ".")
            )
        }
        if difference.outOfOrder > 0 { lines.append("In a different order: \(difference.outOfOrder.of("pair")).") }
        lines += [settings.ignored(difference.leftOut), ""]
        for endpoint in difference.endpoints.prefix(Self.shownEndpoints) { lines += Self.lines(endpoint) + [""] }
        let rest = difference.endpoints.count - Self.shownEndpoints
        if rest > 0 { lines += ["and \(rest.of("more endpoint")); --json has them", ""] }
        lines.append(Self.summary(difference))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func summary(_ difference: SessionDifference) -> String {
        guard !difference.isSame else { return "They behave the same." }
        var parts: [String] = []
        let changed = difference.changed
        if changed > 0 { parts.append("\(changed.of("pair")) differ\(changed == 1 ? "s" : "")") }
        if difference.onlyOld > 0 { parts.append("\(difference.onlyOld.of("exchange")) only in the first session") }
        if difference.onlyNew > 0 { parts.append("\(difference.onlyNew.of("exchange")) only in the second") }
        return "The behaviour changed: \(parts.joined(separator: ", "))."
    }

    private static func lines(_ endpoint: SessionDifference.Endpoint) -> [String] {
        let counts = endpoint.counts
        var lines = [endpoint.key.title]
        if endpoint.pairs > 0 {
            lines[0] += "  \(counts.different.grouped) of \(endpoint.pairs.grouped) pairs differ"
            lines += counts.lines(shownPlaces)
        }
        for (sign, session, count, first) in [
            ("-", "first", endpoint.onlyOld, endpoint.firstOld), ("+", "second", endpoint.onlyNew, endpoint.firstNew),
        ] where count > 0 {
            let numbers = first.map { " #\($0)" }.joined() + (count > first.count ? " …" : "")
            lines.append("  \(sign) \(count.grouped) only in the \(session):\(numbers)")
        }
        return lines
    }

    private static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "0 %" }
        // Rounded down, so that 100 % means all.
        let tenths = Int((Double(part) / Double(whole) * 1_000).rounded(.down))
        return tenths == 1_000 ? "100 %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// One JSON object and a line feed (page `json` of the guide). With a mask, a changed secret is two placeholders.
    package func json(_ difference: SessionDifference, _ old: Named, _ new: Named, mask: ReportMask?) throws -> String {
        let masked = try mask.map { mask in
            let pairs = difference.endpoints.flatMap { $0.counts.places.map(\.exchanges) }
            let readers = [old.reader, new.reader]
            return try MaskedValues(pairs, readers, settings.version, known: mask.known, mask.rules)
        }
        let sessions = [("old", old, difference.old), ("new", new, difference.new)]
        var writer = JSONWriter()
        try writer.object { json in
            json.member("same", difference.isSame)
            for (title, session, count) in sessions {
                try json.object(title) {
                    $0.member("session", session.name)
                    $0.member("exchanges", count)
                }
            }
            json.member("pairs", difference.pairs)
            json.member("sameUrl", difference.sameURL)
            json.member("outOfOrder", difference.outOfOrder)
            try json.object("coverage") {
                for (title, _, count) in sessions {
                    $0.key(title)
                    $0.value(Int64(count == 0 ? 0 : difference.pairs * 10_000 / count), decimals: 4, trimsZeros: false)
                }
            }
            json.member("confidence", difference.confidence.rawValue)
            json.member("changed", difference.changed)
            json.member("onlyOld", difference.onlyOld)
            json.member("onlyNew", difference.onlyNew)
            try json.ignored(settings, difference.leftOut)
            try json.objects("endpoints", difference.endpoints) { json, endpoint in
                json.members(of: endpoint.key, mask?.record)
                json.member("pairs", endpoint.pairs)
                json.member("changed", endpoint.counts.different)
                json.member("onlyOld", endpoint.onlyOld)
                json.member("onlyNew", endpoint.onlyNew)
                try json.differences(endpoint.counts, masked)
                if !endpoint.firstOld.isEmpty { json.numbers("onlyOldExchanges", endpoint.firstOld) }
                if !endpoint.firstNew.isEmpty { json.numbers("onlyNewExchanges", endpoint.firstNew) }
            }
        }
        return String(buffer: writer.buffer) + "\n"
    }

    /// The text of the console's comparison page, followed by a list of the differences that are not ignored.
    package func text(
        _ old: ExchangeDifference.Side,
        _ new: ExchangeDifference.Side,
        names: (String, String)? = nil
    ) throws -> (text: String, isSame: Bool) {
        let difference = try settings.difference(old, new)
        let document = Comparison.document(
            old.exchange,
            new.exchange,
            source: old.source,
            secondSource: new.source,
            names: names,
            responses: settings.version,
            width: Self.width,
            budget: DetailBudget(.seconds(86_400))
        )
        var lines = document.lines.map(\.plain) + ["", settings.ignored(difference.leftOut)]
        if difference.isSame {
            lines.append("They behave the same.")
        } else {
            lines.append("The behaviour changed in \(difference.count.of("place")):")
            lines += difference.changes.map { "  ~ \(DifferenceCounts.line($0.subject, $0.old, $0.new))" }
            let rest = difference.count - difference.changes.count
            if rest > 0 { lines.append("  and \(rest.grouped) more") }
        }
        return (lines.joined(separator: "\n") + "\n", difference.isSame)
    }

    /// One JSON object and a line feed.
    package func json(
        _ old: ExchangeDifference.Side,
        _ new: ExchangeDifference.Side,
        names: (String, String),
        mask: MaskRules?
    ) throws -> (text: String, isSame: Bool) {
        let plain = try settings.difference(old, new)
        let pair = [old, new].map(\.exchange.record.id.number)
        let masked = try mask.map {
            try MaskedValues([pair], [old.source, new.source], settings.version, known: nil, $0)
        }
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
            try json.ignored(settings, plain.leftOut)
            try json.objects("differences", plain.changes) { json, change in
                json.member("place", change.subject.description)
                let shown = masked?.values(of: change.subject, in: pair) ?? (change.old, change.new)
                json.optionalMember("old", shown.0)
                json.optionalMember("new", shown.1)
            }
        }
        return (String(buffer: writer.buffer) + "\n", plain.isSame)
    }
}

extension SessionStatistics.Endpoint {
    package init(_ record: ExchangeRecord) {
        self.init(method: record.method, host: record.url.host, path: record.url.path)
    }

    /// For people: a host with letters outside ASCII in both of its forms.
    package var title: String { VisibleText.of("\(shownMethod) \(HostForms.text(of: host))\(path)") }

    package var shownMethod: String { method.isEmpty ? "(no request)" : method }
}

extension JSONWriter {
    package mutating func members(of endpoint: SessionStatistics.Endpoint, _ mask: RecordMask?) {
        let record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: endpoint.method,
            url: RequestURL(scheme: "https", host: endpoint.host, port: 443, path: endpoint.path),
            clientConnection: ConnectionID(1)
        )
        let url = mask?.masked(record).url ?? record.url
        member("method", endpoint.method)
        member("host", url.host)
        member("path", url.path)
    }
}
