import HTTPModel
import Masking
package import Recording
package import Store

package enum StoreImport {
    /// Sends the ended exchanges of a session that the store does not have. Returns how many were sent. Throws
    /// ``StoreError``, `SessionError` and `Interrupted`.
    package static func run(
        _ reader: SessionReader,
        to settings: Shipper.Settings,
        key: LabelKey?,
        work: LongWork? = nil
    ) throws -> Int {
        let source = try SessionSource(reader, SessionMask.rules(of: reader), key: key)
        var settings = settings
        settings.labels = try reader.identity().labels.merging(settings.labels) { $1 }
        let writer = try StoreWriter(settings, session: try source.identifier) { work?.interruption != nil }
        let stored = try writer.shipped()
        var rest = try source.ended.filter { !stored.contains($0) }[...]
        work?.begin("sending", .things("exchange"))
        let total = rest.count
        try writer.write(source.rules(after: 0))
        while !rest.isEmpty {
            let batch = StoreBatch(longestBody: settings.longestBody)
            rest = rest.dropFirst(try source.fill(batch, with: Array(rest.prefix(Shipper.mostExchanges))))
            if !batch.isEmpty { try writer.write(batch) }
            try work?.report(Int64(total - rest.count), part: Double(total - rest.count) / Double(total))
        }
        var known: [Int64: ExchangeAnnotation]?
        try writer.write(source.annotations(), known: &known)
        return total
    }
}
