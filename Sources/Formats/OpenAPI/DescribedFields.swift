import Content
import HTTPModel

/// The fields of a query or a form that have names, which a description may tell. Any text can be posted as a form
/// (`curl -d` calls whatever it sends one) and stand behind a `?`, and none of it is to be taken for a name.
struct DescribedFields {
    /// A longer name is none, in bytes.
    static let longestName = 64
    private static let mostFields = 10_000
    /// A shorter text is not taken for base64.
    private static let shortestBase64 = 16

    private(set) var fields: [FormField] = []
    /// Whether all that stands there is fields with names.
    private(set) var isWhole = true

    /// Reads a query, without its `?`. What is no field is passed over.
    init(query: String) {
        for pair in query.utf8.split(separator: UInt8(ascii: "&"), maxSplits: DescribedFields.mostFields) {
            if let field = DescribedFields.field(pair) { fields.append(field) } else { isWhole = false }
        }
    }

    /// Reads the body of a form. One with something in it that no form has is another text, of which nothing is a field.
    init(form: some Collection<UInt8>) {
        for pair in form.split(separator: UInt8(ascii: "&"), maxSplits: DescribedFields.mostFields) {
            if let field = DescribedFields.field(pair) {
                fields.append(field)
                continue
            }
            isWhole = false
            // A name alone is passed over, as nothing shows that it is one.
            guard !pair.contains(UInt8(ascii: "=")), DescribedFields.name(pair) != nil else {
                fields = []
                return
            }
        }
    }

    /// Whether a name is one that a description may have: short, and without what only texts and bytes have in them.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= longestName && !PathShape.isIdentifier(name)
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    ? scalar.value &- 0x30 < 10 || (scalar.value | 0x20) &- 0x61 < 26
                        || "-_.[]:$@~*!/".unicodeScalars.contains(scalar)
                    : scalar.properties.isAlphabetic
            }
    }

    private static func name(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.count <= longestName * 3 else { return nil }
        let name = FormFields.decode(bytes)
        return isName(name) ? name : nil
    }

    private static func field(_ pair: some Collection<UInt8>) -> FormField? {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), let name = name(pair[..<equals]) else { return nil }
        let value = pair[pair.index(after: equals)...]
        if value.isEmpty || value.elementsEqual("=".utf8), isBase64(name, count: pair.count) { return nil }
        return FormField(name: name, value: FormFields.decode(value))
    }

    /// Whether what stands before a `=` is a text in base64 whose padding that is.
    private static func isBase64(_ name: String, count: Int) -> Bool {
        name.utf8.count >= shortestBase64 && count % 4 == 0
            && name.utf8.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 || $0 == UInt8(ascii: "/") }
    }
}
