/// What a secret is; the raw value is part of its placeholder.
package enum SecretKind: String, Sendable, CaseIterable {
    case password, token, cookie, signature, email, card
    case apiKey = "key"
    case session, code, credential
    case privateKey = "private-key"
    /// What a profile names, whatever it looks like.
    case named = "value"

    /// Whether numbers of JSON under such a name are secrets, as those of PINs are.
    var isNumeric: Bool { self == .password || self == .code || self == .card || self == .named }
}

/// A text that stands for a secret, such as `sluice-token-1`: plain in every syntax that a value can stand in.
package struct Placeholder: Sendable, Hashable {
    static let prefix = "sluice-"

    package let kind: SecretKind
    /// Counted from 1 for each kind.
    package let number: Int
    /// In commands and programs: which encoded form of the secret, counted from 1; 0 is the secret as it is.
    package var encoding = 0

    /// The same for the secret as it is.
    package var ofSecret: Placeholder { Placeholder(kind: kind, number: number) }

    package var text: String {
        "\(Placeholder.prefix)\(kind.rawValue)-\(number)" + (encoding > 0 ? "e\(encoding)" : "")
    }

    /// What stands for the secret in what becomes a command, until its variable takes this place. Nobody who
    /// is recorded can know the ``mark``. Ends with the host of the secret and a `_`.
    func markedText(host: String) -> String {
        "\(Placeholder.prefix)\(Placeholder.mark)-\(kind.rawValue)-\(number)e\(encoding)-\(host)_"
    }

    /// Whether a byte may be in the host of a marked placeholder: it means nothing to a shell between double quotes.
    static func isOfHost(_ byte: UInt8) -> Bool {
        byte &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    /// Another one in each process.
    static let mark = String((0..<16).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "x" })

    /// The variable of a shell or a program that stands for the secret in a command.
    package var variable: String {
        let name = "SLUICE_\(kind.rawValue.uppercased().replacing("-", with: "_"))_\(number)"
        return encoding > 0 ? name + "_ENCODED" + (encoding > 1 ? "_\(encoding)" : "") : name
    }

    /// What stands for a number of JSON: another one for each kind and number, which 32 bits can hold.
    var digits: String {
        let kind = SecretKind.allCases.firstIndex(of: kind) ?? 0
        return "\(900_000_000 + kind * 1_000_000 + number)"
    }

    /// A number as bytes: in `length` bytes where it must not change the length of what it stands in.
    func digits(fitting length: Int?) -> [UInt8] {
        let bytes = Array(digits.utf8)
        guard let length else { return bytes }
        let nines = Array(repeating: UInt8(ascii: "9"), count: max(min(1, length), length - bytes.count))
        return nines + bytes.suffix(length - nines.count)
    }

    /// A placeholder as bytes: in `length` bytes where it must not change the length of what it stands in.
    func bytes(fitting length: Int?) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard let length else { return bytes }
        return Array(bytes.prefix(length)) + Array(repeating: UInt8(ascii: "-"), count: max(0, length - bytes.count))
    }
}
