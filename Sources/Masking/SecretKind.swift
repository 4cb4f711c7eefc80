/// The raw value is part of the placeholder.
package enum SecretKind: String, Sendable, CaseIterable {
    case password, token, cookie, signature, email, card
    case apiKey = "key"
    case session, code, credential
    case privateKey = "private-key"
    case named = "value"

    var isNumeric: Bool { self == .password || self == .code || self == .card || self == .named }
}

/// A text for a secret, for example `sluice-token-1`, that is plain in every syntax.
package struct Placeholder: Sendable, Hashable {
    static let prefix = "sluice-"

    package let kind: SecretKind
    /// Counted from 1 for each kind.
    package let number: Int
    /// In commands: the number of the encoded form, from 1; 0 is the secret itself.
    package var encoding = 0
    /// In stores: 24 bits that depend on the secret and a key, in place of the number.
    package var label: UInt32?

    package var ofSecret: Placeholder { Placeholder(kind: kind, number: number, label: label) }

    package var text: String {
        if let label { return "\(Placeholder.prefix)\(kind.rawValue)-\(Placeholder.hexadecimal(label))" }
        return "\(Placeholder.prefix)\(kind.rawValue)-\(number)" + (encoding > 0 ? "e\(encoding)" : "")
    }

    private static func hexadecimal(_ label: UInt32) -> String {
        let digits = String(label & 0xFF_FFFF, radix: 16)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The text in a command until a variable replaces it.
    func markedText(host: String) -> String {
        "\(Placeholder.prefix)\(Placeholder.mark)-\(kind.rawValue)-\(number)e\(encoding)-\(host)_"
    }

    /// Whether a byte has no meaning for a shell between double quotes.
    static func isOfHost(_ byte: UInt8) -> Bool {
        byte.isSmall || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    /// Random in each process, so that no recorded peer knows it.
    static let mark = String((0..<16).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "x" })

    package var variable: String {
        let name = "SLUICE_\(kind.rawValue.uppercased().replacing("-", with: "_"))_\(number)"
        return encoding > 0 ? name + "_ENCODED" + (encoding > 1 ? "_\(encoding)" : "") : name
    }

    /// A number that fits 32 bits, different for each kind and number.
    var digits: String {
        let kind = SecretKind.allCases.firstIndex(of: kind) ?? 0
        return "\(900_000_000 + kind * 1_000_000 + number)"
    }

    func digits(fitting length: Int?) -> [UInt8] {
        let bytes = Array(digits.utf8)
        guard let length else { return bytes }
        let nines = Array(repeating: UInt8(ascii: "9"), count: max(min(1, length), length - bytes.count))
        return nines + bytes.suffix(length - nines.count)
    }

    func bytes(fitting length: Int?) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard let length else { return bytes }
        return Array(bytes.prefix(length)) + Array(repeating: UInt8(ascii: "-"), count: max(0, length - bytes.count))
    }
}
