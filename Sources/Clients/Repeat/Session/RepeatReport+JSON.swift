import Content
import HTTPModel
package import Jobs
import Masking
import NIOCore
package import Recording
package import Sharing

extension RepeatReport {
    /// JSON lines: one for each row, then one for all.
    ///
    /// - A row has `type` (`exchange` or `endpoint`), `exchanges` (the first hundred numbers), `method` and `url`, or `host` and
    ///   `path`; then `count`, `failed`, `perSecond`, `statuses`, milliseconds `min`, `p50`, `p95`, `p99`, `max` and
    ///   `recordedP50`, `failures` (by reason), `compared`, `same`, `different`, `withoutRecorded`, `notCompared`,
    ///   `differentParts` (`status`, `fields`, `body`), and `differences`: `place`, `part`, `count`, and `old`, `new` and
    ///   `exchanges` of the first answer that has it.
    /// - The line of all has `type` `total`, `planned`, `seconds`, `stopped`, `session` where it is kept, what a row counts, and
    ///   `histogram`: `from`, `to` (milliseconds) and `count`.
    ///
    /// With a mask, secrets are replaced. Throws `SessionError`.
    package func json(
        _ mask: ReportMask?,
        recorded: SessionReader,
        made: SessionReader?,
        responses version: MessageVersion = .sent
    ) throws -> String {
        let pairs = rows.flatMap { $0.comparison.places.map(\.exchanges) }
        let values: MaskedValues? =
            if let mask, let made { try MaskedValues(pairs, recorded, made, version, mask) } else { nil }
        var writer = JSONWriter()
        for row in rows {
            try writer.object { json in
                json.member("type", grouping.rawValue)
                json.key("exchanges")
                json.number("[\(row.numbers.prefix(Self.mostNumbers).map(String.init).joined(separator: ","))]")
                if let record = row.record { members(of: record, mask?.record, &json) }
                try members(of: row, mask?.record, values, isMasked: mask != nil, &json)
            }
            try writer.endLine()
        }
        try writer.object { json in
            json.member("type", "total")
            json.member("planned", results.total)
            json.key("seconds")
            json.number(Self.decimal(results.seconds, 3))
            json.member("stopped", !results.isWhole)
            json.optionalMember("session", session)
            try members(of: all, mask?.record, nil, isMasked: mask != nil, &json, hasPlaces: false)
            try json.objects("histogram", all.times.buckets()) { json, bucket in
                json.optionalMilliseconds("from", bucket.from)
                json.optionalMilliseconds("to", bucket.to)
                json.member("count", bucket.count)
            }
        }
        try writer.endLine()
        return String(buffer: writer.buffer)
    }

    private static let mostNumbers = 100

    private static func decimal(_ number: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(Int64(1)) { scale, _ in scale * 10 }
        let value = Int64((number * Double(scale)).rounded())
        return "\(value / scale).\(String(String(value % scale + scale).dropFirst()))"
    }

    private func members(of record: ExchangeRecord, _ mask: RecordMask?, _ json: inout JSONWriter) {
        json.member("method", record.method)
        switch grouping {
        case .exchange: json.member("url", (mask?.masked(record) ?? record).url.description)
        case .endpoint:
            let endpoint = SessionStatistics.Endpoint(
                method: record.method,
                host: record.url.host,
                path: record.url.path
            )
            var shaped = record
            (shaped.url.path, shaped.url.query) = (endpoint.path, nil)
            let url = (mask?.masked(shaped) ?? shaped).url
            json.member("host", url.host)
            json.member("path", url.path)
        }
    }

    private func members(
        of row: Row,
        _ mask: RecordMask?,
        _ values: MaskedValues?,
        isMasked: Bool,
        _ json: inout JSONWriter,
        hasPlaces: Bool = true
    ) throws {
        json.member("count", row.count)
        json.member("failed", row.failed)
        json.key("perSecond")
        json.number(Self.decimal(results.seconds > 0 ? Double(row.count) / results.seconds : 0, 2))
        try json.object("statuses") { json in
            for (status, count) in row.statuses.sorted(by: { $0.key < $1.key }) { json.member("\(status)", count) }
        }
        let summary = row.times.summary
        json.optionalMilliseconds("min", summary?.least)
        json.optionalMilliseconds("p50", summary?.p50)
        json.optionalMilliseconds("p95", summary?.p95)
        json.optionalMilliseconds("p99", summary?.p99)
        json.optionalMilliseconds("max", summary?.most)
        json.optionalMilliseconds("recordedP50", row.recorded.summary?.p50)
        if !row.failures.isEmpty {
            try json.object("failures") { json in
                for (reason, count) in row.failures.sorted(by: { $0.key < $1.key }) {
                    json.member(masked(reason, row.record, mask), count)
                }
            }
        }
        let counts = row.comparison
        json.member("compared", counts.compared)
        json.member("same", counts.same)
        json.member("different", counts.different)
        json.member("withoutRecorded", counts.withoutRecorded)
        json.member("notCompared", counts.notCompared)
        if !counts.parts.isEmpty {
            try json.object("differentParts") { json in
                for part in ExchangeDifference.Part.allCases {
                    if let count = counts.parts[part] { json.member(part.rawValue, count) }
                }
            }
        }
        guard hasPlaces, !counts.places.isEmpty else { return }
        try json.objects("differences", counts.places) { json, place in
            json.member("place", place.name)
            json.member("part", place.part.rawValue)
            json.member("count", place.count)
            let shown =
                isMasked
                ? values?.values(of: place.name, in: place.exchanges) ?? ("masked", "masked") : (place.old, place.new)
            json.optionalMember("old", shown.0)
            json.optionalMember("new", shown.1)
            json.key("exchanges")
            json.number("[\(place.exchanges.map(String.init).joined(separator: ","))]")
        }
    }

    private func masked(_ reason: String, _ record: ExchangeRecord?, _ mask: RecordMask?) -> String {
        guard let mask, var record = record ?? rows.first?.record else { return reason }
        record.failure = ExchangeFailure(.reset, reason)
        return mask.masked(record).failure?.message ?? reason
    }
}
