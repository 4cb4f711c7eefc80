package import HTTPModel

/// Masks list entries as they come, by names and patterns, and secrets known from earlier entries.
package struct RecordMask {
    let mask: TextMask

    package init(_ mask: TextMask) { self.mask = mask }

    /// For lines that are written while exchanges are recorded.
    package init(_ rules: MaskRules) {
        mask = TextMask(rules)
        mask.replaceAtOnce()
    }

    package func masked(_ record: ExchangeRecord) -> ExchangeRecord {
        mask.boundWhatIsSought()
        var masked = record
        var parts = mask(&masked)
        if !parts.isEmpty {
            // A part may contain a secret that is found in a later part.
            masked = record
            parts = mask(&masked)
            masked.extras.masked = record.extras.masked.filter { !parts.contains($0) } + parts
        }
        return masked
    }

    /// Reads the heads first, because the record may have their secrets.
    package func masked(_ exchange: RecordedExchange) -> ExchangeRecord {
        mask.boundWhatIsSought()
        mask.begin(exchange.record)
        for part in HeadMask.parts {
            if let head = exchange.messages[keyPath: part.path] { _ = HeadMask(mask: mask).masked(head, as: part) }
        }
        return masked(exchange.record)
    }

    func mask(_ record: inout ExchangeRecord) -> [String] {
        mask.begin(record)
        var parts: [String] = []
        let heads = HeadMask(mask: mask)
        mask.part = "URL"
        let urls = [record.url, record.sentURL]
        record.url = heads.masked(record.url)
        record.sentURL = record.sentURL.map(heads.masked)
        if [record.url, record.sentURL] != urls { parts.append("URL") }
        func masked(_ part: String, _ text: String, _ syntax: ScanSyntax? = .text) -> String {
            mask.part = part
            guard let masked = mask.masked(text, syntax) else { return text }
            if parts.last != part { parts.append(part) }
            return masked
        }
        if record.method.utf8.count >= SecretBook.shortestSought {
            record.method = masked("method", record.method, nil)
        }
        if let failure = record.failure {
            record.failure?.message = masked("failure", failure.message)
            record.failure?.hint = masked("failure", failure.hint)
        }
        if let message = record.grpc?.message { record.grpc?.message = masked("gRPC message", message) }
        if let comment = record.extras.annotation.comment {
            record.extras.annotation.comment = masked("comment", comment)
        }
        return parts
    }
}
