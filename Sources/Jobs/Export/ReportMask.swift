package import HTTPModel
package import Masking
package import Recording

/// Masks URLs and failures in reports, which have no bodies.
package struct ReportMask {
    /// Sessions with more exchanges are not searched for secrets.
    static let most: Int64 = 10_000
    static let mostBodyBytes: Int64 = 128 << 20

    package let rules: MaskRules
    package let record: RecordMask
    /// Knows the sessions' secrets. `nil` if the sessions are too long: only secrets that show in a URL are masked.
    package let known: TextMask?

    /// Searches the sessions for secrets, unless they are long. Throws `SessionError`.
    package init(_ readers: [SessionReader], _ rules: MaskRules, most: Int64 = ReportMask.most) throws {
        self.rules = rules
        let totals = try readers.map { try $0.summary() }
        let bodies = totals.reduce(0) { $0 + $1.requestBodyBytes / 2 + $1.responseBodyBytes / 2 }
        guard totals.allSatisfy({ $0.exchanges <= most }), bodies <= ReportMask.mostBodyBytes / 2 else {
            record = RecordMask(rules)
            known = nil
            return
        }
        let mask = TextMask(rules)
        for reader in readers {
            let pipeline = ExportPipeline(reader) { try reader.forEachNumbers(matching: .everything, $0) }
            try SessionMask.collect(pipeline, MaskedSource(pipeline.pages, mask))
        }
        mask.endCollecting()
        record = RecordMask(mask)
        known = mask
    }

    package var remark: String? {
        known != nil ? nil : "The session is long: bodies were not looked through for secrets that stand in a path."
    }
}
