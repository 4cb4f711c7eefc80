import Foundation

/// What a value looks like, apart from its name.
enum ValueShape {
    /// Values under a secret's name that are none: words of schemes, types, forms, and what stands for a secret already.
    private static let ordinary: Set<String> = [
        "true", "false", "null", "nil", "none", "undefined", "anonymous", "public", "bearer", "basic", "digest", "mac",
        "jwt", "opaque", "string", "number", "boolean", "object", "text", "password", "passwort", "token", "secret",
        "required", "optional", "hidden", "masked", "redacted", "removed", "invalid", "expired", "missing", "new",
        "current-password", "new-password", "one-time-code", "off", "on", "yes", "no", "unknown", "default",
        "include", "omit", "same-origin", "disabled", "enabled", "header", "query", "cookie", "inherit", "auto",
        "manual",
        "never", "always", "denied", "granted", "allowed", "forbidden", "rejected", "revoked", "active", "inactive",
        "pending", "verified", "unverified", "valid", "failed", "fail", "passed", "success", "ok", "empty",
        "unset", "n/a", "tbd", "todo", "mandatory", "incorrect", "wrong", "weak", "strong", "(none)", "(not set)",
        "(unset)", "(hidden)", "(empty)", "(null)", "not set", "sms", "email", "match", "unchecked", "nopasswd", "read",
        "write",
        "seconds", "minutes", "hours", "days",
        "rs256", "rs512", "hs256", "hs384", "hs512", "es256", "ps256", "eddsa",
    ]

    /// Whether a value under a secret's name is no secret; `isCalledSecret` where the name ends in that word.
    static func isOrdinary(
        _ value: UnsafeRawBufferPointer,
        _ kind: SecretKind,
        isCalledSecret: Bool = false
    ) -> Bool {
        guard let first = value.first else { return true }
        if Placeholder.isOne(value) { return true }
        if kind == .named { return ["true", "false", "null"].contains { value.elementsEqual($0.utf8) } }
        if value.allSatisfy({ $0 == first && !isLetterOrDigit($0) }) || value.allSatisfy({ $0 | 0x20 == 0x78 }) {
            return true
        }
        if OrdinaryValue.isOne(value, kind, isCalledSecret: isCalledSecret)
            || value.count == 2 && first == UInt8(ascii: "%")
        {
            return true
        }
        guard value.count <= 200 else { return false }
        if isOrdinaryWord(value) { return true }
        let text = String(decoding: value, as: UTF8.self).lowercased()
        guard text.utf8.contains(0x20) else { return false }
        // Sentences about a password or a secret, as translations have them; a token has no spaces at all.
        return switch kind {
        case .password:
            ["password", "passwort", "passphrase", "…", "?"].contains { text.contains($0) } || isComplaint(value, text)
        case .card, .code: !isDigitsInGroups(value)
        case .token where isCalledSecret:
            ["secret", "password", "token", "…", "?"].contains { text.contains($0) } || isComplaint(value, text)
                || first &- 0x41 < 26 && value.last.map { ".!".utf8.contains($0) } ?? false
        default: true
        }
    }

    /// Whether a value is digits with spaces or hyphens between, as cards and codes are written: `481 516`.
    private static func isDigitsInGroups(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count { $0 &- 0x30 < 10 } >= 4
            && value.allSatisfy { $0 &- 0x30 < 10 || $0 == 0x20 || $0 == UInt8(ascii: "-") }
    }

    private static let complaintWords = [
        "required", "characters", "digits", "letters", "too short", "too long", "too weak", "blank", "empty", "match",
        "valid", "incorrect",
        "missing", "at least", "not allowed",
    ]

    /// How other languages say that a value is to be given.
    private static let requiredWords = [
        "erforderlich", "notwendig", "obligatoire", "requis", "obligatorio", "obligatoria", "requerido", "requerida",
        "obbligatori", "obrigat", "vereist", "verplicht", "wymagan", "krävs", "påkrevd", "påkrævet", "обязател", "必須",
        "必填",
    ]

    /// Whether a value says what is wrong with a password, as the answer to a form does: `Minimum 8 characters`.
    private static func isComplaint(_ value: UnsafeRawBufferPointer, _ text: String) -> Bool {
        if requiredWords.contains(where: { text.contains($0) }) { return true }
        guard complaintWords.contains(where: { text.contains($0) }) else { return false }
        let hasLength = [" characters", " digits"].contains { text.contains($0) }
        return isMessage(value) || hasLength && text.utf8.contains { $0 &- 0x30 < 10 }
    }

    /// Whether a value is the path of a directory, as the environment has one under `PWD`.
    static func isDirectory(_ value: UnsafeRawBufferPointer) -> Bool {
        let path = value.drop { $0 == UInt8(ascii: "\\") }
        if path.first == UInt8(ascii: "/") || path.starts(with: "%2F".utf8) { return true }
        guard value.count > 2, (value[0] | 0x20) &- 0x61 < 26 else { return false }
        return value[1] == UInt8(ascii: ":") && "\\/".utf8.contains(value[2])
    }

    /// Whether a value is a word that stands for no secret.
    static func isOrdinaryWord(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count <= 20 && ordinary.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Words that many take for a password or a name where one is asked for, and that stand in other places as themselves.
    private static let common: Set<String> = [
        "username", "userpass", "user_name", "mypassword", "my-password", "yourpassword", "your-password", "changeme",
        "changeit", "change-me", "change_me", "letmein1", "xxxxxxxx", "password1", "postgres", "postgresql",
        "mysql", "mongodb", "rabbitmq", "elastic", "elasticsearch", "keycloak", "minioadmin", "superuser", "superadmin",
        "administrator", "sysadmin", "anonymous", "localhost", "testtest", "testuser", "testpass", "testpassword",
        "example", "developer", "development", "production", "access_token", "refresh_token", "client_secret",
        "api_key", "authorization", "credentials", "passphrase", "api-token", "your-token", "yourtoken",
        "your_token", "x-oauth-basic", "x-token-auth", "oauth2accesstoken", "placeholder",
    ]

    /// Whether a value is a word that means something else wherever else it stands: it is masked in its place alone.
    static func isCommonWord(_ value: UnsafeRawBufferPointer) -> Bool {
        isOrdinaryWord(value)
            || value.count <= 20 && common.contains(String(decoding: value, as: UTF8.self).lowercased())
            || isWord(value) || isPlaceOfWords(value)
    }

    /// The longest word of a language that stands in other places as itself: `function`, `Authorization:`.
    private static let longestWord = 12

    /// Whether a value is one word in small letters, or with a capital one at its beginning, between signs or none.
    private static func isWord(_ value: UnsafeRawBufferPointer) -> Bool {
        func isSign(_ byte: UInt8) -> Bool { byte < 0x80 && !isLetterOrDigit(byte) }
        guard value.count <= longestWord + 4, let first = value.firstIndex(where: { !isSign($0) }) else { return false }
        let last = value.lastIndex { !isSign($0) } ?? first
        let word = value[first...last]
        return word.count <= longestWord && (word[first] | 0x20) &- 0x61 < 26
            && word.dropFirst().allSatisfy { $0 &- 0x61 < 26 }
    }

    /// Whether a value is a path or a URL whose parts are words alone: `/password/reset`.
    private static func isPlaceOfWords(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 200, value.first == UInt8(ascii: "/") || value.prefix(8).contains(UInt8(ascii: ":")),
            value.contains(UInt8(ascii: "/"))
        else { return false }
        return value.split { !isLetterOrDigit($0) }
            .allSatisfy { $0.count <= longestWord && $0.allSatisfy { $0 &- 0x61 < 26 } }
    }

    /// Words with numbers of two digits and more, as names of algorithms and types have them.
    private static let numberedWords: Set<String> = [
        "sha", "sha3", "base", "utf", "int", "uint", "float", "x", "iso", "rfc", "ed", "hs", "rs", "es", "ps", "aes",
        "rsa", "varchar", "char", "nvarchar", "decimal", "latin", "cp", "line", "option", "field", "column", "http",
        "v",
        "ver", "version", "tls", "ssl", "oauth",
    ]

    /// Whether a text is a name rather than a value: letters and signs with hardly a digit, which do not look made by chance either.
    static func isName(_ value: UnsafeRawBufferPointer) -> Bool {
        let digits = value.count { $0 &- 0x30 < 10 }
        guard digits > 1 else { return !isMixed(value, least: 20) }
        let word = value.prefix { ($0 | 0x20) &- 0x61 < 26 }
        let isNumbered = value[word.endIndex...].allSatisfy { !isLetterOrDigit($0) || $0 &- 0x30 < 10 }
        return isNumbered && numberedWords.contains(String(decoding: word.prefix(16), as: UTF8.self).lowercased())
    }

    /// How a list of what is wrong with a value says it, where it has no full stop.
    private static let messageBeginnings = [
        "is ", "are ", "can't ", "cannot ", "can not ", "must ", "has ", "does ", "doesn't ", "do ", "should ",
        "needs ",
        "may ", "too ", "please ", "this ", "the ",
    ]

    /// Whether a text of three words or more is a sentence rather than a passphrase.
    static func isMessage(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let last = value.last, value.count(where: { $0 == 0x20 }) >= 1 else { return false }
        let text = String(decoding: value, as: UTF8.self).lowercased()
        return messageBeginnings.contains { text.hasPrefix($0) }
            || ".!?".utf8.contains(last) && text.utf8.count { $0 == 0x20 } >= 2
    }

    /// Whether a value looks made by chance, as tokens and keys do: long, without spaces, letters and digits mixed.
    static func isRandom(_ value: UnsafeRawBufferPointer, least: Int = 16) -> Bool {
        guard value.count >= least else { return false }
        var (letters, digits) = (0, 0)
        for byte in value {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): letters += 1
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "/"),
                UInt8(ascii: "="), UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "|"):
                break
            default: return false
            }
        }
        return letters > 1 && digits > 1 && entropy(value) >= 3
    }

    /// Whether a value is random, though it may have hardly a digit.
    static func isMadeByChance(_ value: UnsafeRawBufferPointer, least: Int) -> Bool {
        isRandom(value, least: least) || isMixed(value, least: least)
    }

    /// Whether a text in code is a secret under a name that is one, though it does not look made by chance: letters and digits,
    /// no word, path or expression.
    static func isLiteral(_ value: UnsafeRawBufferPointer) -> Bool {
        (8...64).contains(value.count) && value.contains { $0 &- 0x30 < 10 }
            && value.contains { ($0 | 0x20) &- 0x61 < 26 }
            && value.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"./\\()[]{}<>#:,;`\"'".utf8.contains($0) }
    }

    /// Whether a value is long and has letters as no words have them: large and small ones in pieces of two or three, where names
    /// such as `getElementById` have whole words.
    static func isMixed(_ value: UnsafeRawBufferPointer, least: Int) -> Bool {
        guard value.count >= max(least, 20), value.first != UInt8(ascii: "/") else { return false }
        var (large, small, signs) = (0, 0, 0)
        for byte in value {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): large += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"): small += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                signs += 1
            default: return false
            }
        }
        return min(large, small) * 4 >= value.count && signs * 10 <= value.count && isInPieces(value)
            && entropy(value) > 3.8
    }

    /// Whether a value is a key rather than words and a number: random, and in pieces.
    static func isKey(_ value: UnsafeRawBufferPointer) -> Bool { isRandom(value) && isInPieces(value) }

    /// Whether letters and digits change as often as chance has it: a word, with a large letter before it, and a number are one
    /// piece each, of three bytes or fewer on average (or with more `tenths` of pieces of two).
    static func isInPieces(_ value: UnsafeRawBufferPointer, tenths: Int = 3) -> Bool {
        enum Class { case large, small, digit, sign }
        var (pieces, last) = (0, Class.sign)
        for (place, byte) in value.enumerated() {
            let current: Class =
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): .large
                case UInt8(ascii: "a")...UInt8(ascii: "z"): .small
                case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
                default: .sign
                }
            let isNew =
                switch current {
                case .large: last != .large || place + 1 < value.count && value[place + 1] &- 0x61 < 26
                case .small: last != .small && last != .large
                case .digit: last != .digit
                case .sign: false
                }
            if isNew { pieces += 1 }
            last = current
        }
        return pieces * 10 >= value.count * tenths
    }

    /// Shannon's entropy, in bits for each byte.
    static func entropy(_ value: UnsafeRawBufferPointer) -> Double {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 256) { counts in
            counts.initialize(repeating: 0)
            for byte in value { counts[Int(byte)] += 1 }
            let total = Double(value.count)
            return counts.reduce(0) { sum, count in
                guard count > 0 else { return sum }
                let share = Double(count) / total
                return sum - share * log2(share)
            }
        }
    }

    /// Whether a text of hexadecimal digits and hyphens is a UUID (RFC 9562).
    static func isUUID(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count == 36
            && value.enumerated().allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place) ? byte == UInt8(ascii: "-") : isHexadecimal(byte)
            }
    }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
    }

    /// Whether digits, with spaces or hyphens between, are a card's number: 13 to 19 of them with Luhn's check digit
    /// (ISO/IEC 7812-1).
    static func isCard(_ value: UnsafeRawBufferPointer) -> Bool {
        var (sum, count) = (0, 0)
        for byte in value.reversed() {
            if byte == 0x20 || byte == UInt8(ascii: "-") { continue }
            guard byte &- 0x30 < 10 else { return false }
            let digit = Int(byte &- 0x30)
            let doubled = count % 2 == 1 ? digit * 2 : digit
            sum += doubled > 9 ? doubled - 9 : doubled
            count += 1
        }
        return (13...19).contains(count) && sum % 10 == 0
    }
}
