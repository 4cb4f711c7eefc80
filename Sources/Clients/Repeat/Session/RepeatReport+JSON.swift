import Content
import Description
import HTTPModel
package import Jobs
import Masking
import NIOCore
package import Recording

extension RepeatReport {
    /// JSON lines, masked if there is a mask; the page `json` of the guide describes them. Throws `SessionError`.
    package func json(_ mask: ReportMask?, recorded: SessionReader, made: SessionReader?) throws -> String {
        let pairs = rows.flatMap { $0.comparison.differences.places.map(\.exchanges) }
        var values: MaskedValues?
        if let mask, let made {
            let readers = [recorded, made]
            values = try MaskedValues(pairs, readers, settings.version, known: mask.known, mask.rules)
        }
        var writer = JSONWriter()
        for row in rows {
            try writer.object { json in
                json.member("type", grouping.rawValue)
                json.numbers("exchanges", row.numbers.prefix(Self.maximumNumbers))
                if let record = row.record {
                    if grouping == .endpoint {
                        json.members(of: SessionStatistics.Endpoint(record), mask?.record)
                    } else {
                        json.member("method", record.method)
                        json.member("url", (mask?.record.masked(record) ?? record).url.description)
                    }
                }
                try members(of: row, mask?.record, &json)
                let counts = row.comparison.differences
                if counts.different > 0 { try json.differences(counts, values) }
            }
            try writer.endLine()
        }
        try writer.object { json in
            json.member("type", "total")
            json.member("planned", results.total)
            json.key("seconds")
            json.value(Int64((results.seconds * 1_000).rounded()), decimals: 3, trimsZeros: false)
            json.member("stopped", !results.isWhole)
            json.optionalMember("session", session)
            try members(of: all, mask?.record, &json)
            try json.objects("histogram", all.times.buckets()) { json, bucket in
                json.optionalMilliseconds("from", bucket.from)
                json.optionalMilliseconds("to", bucket.to)
                json.member("count", bucket.count)
            }
        }
        try writer.endLine()
        return String(buffer: writer.buffer)
    }

    private static let maximumNumbers = 100

    private func members(of row: Row, _ mask: RecordMask?, _ json: inout JSONWriter) throws {
        json.member("count", row.count)
        json.member("failed", row.failed)
        json.key("perSecond")
        let rate = results.seconds > 0 ? Double(row.count) / results.seconds : 0
        json.value(Int64((rate * 100).rounded()), decimals: 2, trimsZeros: false)
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
        let counts = row.comparison.differences
        json.member("compared", counts.compared)
        json.member("same", counts.same)
        json.member("different", counts.different)
        json.member("withoutRecorded", row.comparison.withoutRecorded)
        json.member("notCompared", row.comparison.notCompared)
        guard !counts.parts.isEmpty else { return }
        try json.object("differentParts") { json in
            for part in ExchangeDifference.Part.allCases {
                if let count = counts.parts[part] { json.member(part.rawValue, count) }
            }
        }
    }

    private func masked(_ reason: String, _ record: ExchangeRecord?, _ mask: RecordMask?) -> String {
        guard let mask, var record = record ?? rows.first?.record else { return reason }
        record.failure = ExchangeFailure(.reset, reason)
        return mask.masked(record).failure?.message ?? reason
    }
}
