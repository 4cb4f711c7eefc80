package import Content
package import HTTPModel

/// A request as a replay compares it, without values that rules ignore. A part that is `nil` may differ.
package struct ComparedRequest {
    package var method = ""
    package var scheme: String?
    package var host: String?
    package var port: String?
    package var path = ""
    package var query: [FormField] = []
    package var headers: [FormField] = []
    package var body = BodyMeaning.empty

    package init() {}

    /// Valid only in this process. They are equal for two requests if ``ExchangeDifference`` finds no difference.
    package struct Fingerprints {
        package let all: Fingerprint
        package let query: Fingerprint
        package let header: Fingerprint
        package let body: Fingerprint
    }

    package var fingerprints: Fingerprints {
        let query = ByteDigest.of { $0.add(self.query) }
        let header = ByteDigest.of { $0.add(headers) }
        let body = ByteDigest.of { self.body.add(to: &$0) }
        let all = ByteDigest.of { digest in
            for fact in [method, scheme, host, port, path] { digest.add(fact ?? "") }
            for part in [query, header, body] { digest.add(part) }
        }
        return Fingerprints(all: all, query: query, header: header, body: body)
    }
}

extension ByteDigest {
    /// Adds fields; the order counts only among fields of the same name.
    mutating func add(_ fields: [FormField]) {
        let sorted =
            fields.count < 2
            ? fields
            : fields.enumerated().sorted { left, right in
                let (name, other) = (left.element.name, right.element.name)
                if name != other { return name < other }
                // Equal strings may have different bytes.
                return name.utf8.elementsEqual(other.utf8)
                    ? left.offset < right.offset : name.utf8.lexicographicallyPrecedes(other.utf8)
            }
            .map(\.element)
        for field in sorted {
            add(field.name)
            add(field.value)
        }
    }
}
