package import HTTPModel
package import Masking
package import Recording

/// Masks what a report says of exchanges, which has no bodies: their URLs, and why they failed.
package struct ReportMask {
    /// As many exchanges, with as many bytes of bodies, are read for secrets before a report.
    static let most: Int64 = 10_000
    static let mostBodyBytes: Int64 = 128 << 20

    package let rules: MaskRules
    package let record: RecordMask
    /// Knows the secrets of the sessions; `nil` where they were not read.
    package let known: TextMask?
    /// Whether the sessions were read for their secrets; else those are known that a URL names or that look like one.
    package let knowsBodies: Bool

    /// Reads sessions for their secrets, unless they are long. Throws `SessionError`.
    package init(_ readers: [SessionReader], _ rules: MaskRules, most: Int64 = ReportMask.most) throws {
        self.rules = rules
        let totals = try readers.map { try $0.summary() }
        let bodies = totals.reduce(0) { $0 + $1.requestBodyBytes / 2 + $1.responseBodyBytes / 2 }
        knowsBodies = totals.allSatisfy { $0.exchanges <= most } && bodies <= ReportMask.mostBodyBytes / 2
        guard knowsBodies else {
            record = RecordMask(rules)
            known = nil
            return
        }
        let mask = TextMask(rules)
        for reader in readers {
            let pipeline = ExportPipeline(reader) { body in
                try reader.forEachNumbers(matching: .everything, body)
            }
            try SessionMask.collect(pipeline, MaskedSource(pipeline.pages, mask))
        }
        mask.endCollecting()
        record = RecordMask(mask)
        known = mask
    }

    /// What to say where not every secret is known; `nil` for nothing.
    package var remark: String? {
        knowsBodies ? nil : "The session is long: bodies were not looked through for secrets that stand in a path."
    }
}
