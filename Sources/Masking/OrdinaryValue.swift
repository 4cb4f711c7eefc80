/// Values under a secret's name that are none by what they look like: states, versions, places, names.
enum OrdinaryValue {
    /// Words for a password, as a page has them on its labels.
    private static let labels: Set<String> = [
        "contraseña", "mot de passe", "wachtwoord", "senha", "hasło", "пароль", "密码", "密碼", "パスワード", "비밀번호", "암호",
        "lösenord", "adgangskode", "kodeord", "passord", "salasana", "heslo", "jelszó", "şifre", "parola", "kata sandi",
        "mật khẩu", "รหัสผ่าน", "كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "κωδικός", "lozinka", "парола", "geslo",
        "slaptažodis", "parole", "parool", "palavra-passe", "contrasenya", "kennwort", "mot de passe oublié",
        "код доступа", "पासवर्ड", "token d'accès", "jeton", "jeton d'accès",
    ]
    /// Names that stand for a value of their own.
    private static let names: Set<String> = [
        "accesstoken", "refreshtoken", "idtoken", "authtoken", "apitoken", "csrftoken", "xsrftoken", "xcsrftoken",
        "xxsrftoken", "bearertoken", "sessiontoken", "usertoken", "apikey", "xapikey", "sessionid", "jsessionid",
        "phpsessid", "authorization", "xauthtoken", "clientsecret", "accesskey", "secretkey", "csrfmiddlewaretoken",
        "authenticitytoken", "requestverificationtoken", "awssecretaccesskey", "awsaccesskeyid", "awssessiontoken",
    ]

    /// Whether a value is no secret of a kind by what it looks like.
    static func isOne(_ value: UnsafeRawBufferPointer, _ kind: SecretKind, isCalledSecret: Bool) -> Bool {
        if isText(value) { return true }
        switch kind {
        case .password, .card: return value.starts(with: "op://".utf8) && isPlace(value)
        case .code: return value.count >= 5 && isVersion(value)
        default: return isNoKey(value, isCalledSecret: isCalledSecret)
        }
    }

    /// Whether a value is a word, a name or a template whatever the kind of secret that it would be.
    private static func isText(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, let last = value.last else { return true }
        if ValueTemplate.isOne(value) || isCovered(value) { return true }
        if first == UInt8(ascii: "<"), last == UInt8(ascii: ">"), value.count > 6, value[1] &- 0x61 < 26 {
            // A piece of HTML.
            return value.contains(UInt8(ascii: "/")) && value.contains(0x20)
        }
        guard value.count <= 40 else { return false }
        guard first >= 0x80 || value.contains(0x20) || value.contains(where: { $0 >= 0x80 }) || value.count < 16 else {
            return false
        }
        return isLabel(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Whether a text is a word for a password, or a few words with one: `nueva contraseña`.
    private static func isLabel(_ text: String) -> Bool {
        if labels.contains(text) { return true }
        guard text.contains(" ") || text.last == ":" else { return false }
        let hasLabel = labels.contains { label in
            (label.utf8.count > 5) && (text.hasPrefix(label) || text.hasSuffix(label) || text.contains(" \(label) "))
        }
        return hasLabel && !text.utf8.contains { $0 &- 0x30 < 10 }
    }

    /// Whether a value is what programs write over a secret: `••••`, `xxxx-xxxx`.
    private static func isCovered(_ value: UnsafeRawBufferPointer) -> Bool {
        var (place, xs) = (0, 0)
        while place < value.count {
            switch value[place] {
            case UInt8(ascii: "*"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x20: place += 1
            case UInt8(ascii: "x"), UInt8(ascii: "X"): (place, xs) = (place + 1, xs + 1)
            case 0xE2, 0xC2:
                let rest = value[place...]
                guard let sign = ["•", "●", "∙", "◦", "·", "…"].first(where: { rest.starts(with: $0.utf8) }) else {
                    return false
                }
                place += sign.utf8.count
            default: return false
            }
        }
        return xs == 0 || xs * 2 > value.count
    }

    /// Whether a value under the name of a token, a key or a session is none: a version, a place, a name, or one of which a part
    /// is left out.
    private static func isNoKey(_ value: UnsafeRawBufferPointer, isCalledSecret: Bool) -> Bool {
        guard let first = value.first, value.count <= 400 else { return false }
        if isCut(value) || isVersion(value) || isPlace(value) || isColour(value) { return true }
        // The scopes of an editor and the steps of a design: keyword.operator
        if !isCalledSecret, first &- 0x61 < 26, isDotted(value) { return true }
        if isConstant(value) { return true }
        guard value.count <= 32, !isCalledSecret || value.contains(where: { "_-".utf8.contains($0) }) else {
            return false
        }
        return names.contains(SecretNames.normalised(String(decoding: value, as: UTF8.self)))
    }

    private static let secretNames = SecretNames()

    /// Whether a value is the name of a variable of the environment: `AWS_SECRET_ACCESS_KEY`.
    private static func isConstant(_ value: UnsafeRawBufferPointer) -> Bool {
        (8...60).contains(value.count) && value.contains(UInt8(ascii: "_"))
            && value.allSatisfy { $0 &- 0x41 < 26 || $0 == UInt8(ascii: "_") } && secretNames.kind(of: value) != nil
    }

    private static func isDotted(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 60, value.contains(UInt8(ascii: ".")),
            value.allSatisfy({ $0 &- 0x61 < 26 || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") })
        else { return false }
        return value.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
            (2...16).contains($0.count)
        }
    }

    /// Whether a part of a value is left out: `sk-…`, `sk-****1234`, `ghp_xxxxxxxx`.
    private static func isCut(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 4, value.count <= 100 else { return false }
        // More than a few signs are a part of the secret.
        let shown = value.count { ValueShape.isLetterOrDigit($0) && $0 | 0x20 != 0x78 }
        guard shown <= 10 else { return false }
        var (run, last): (Int, UInt8) = (0, 0)
        for (place, byte) in value.enumerated() {
            run = byte == last ? run + 1 : 1
            last = byte
            if run >= 3, byte == UInt8(ascii: "*") || byte == UInt8(ascii: ".") { return true }
            if byte == 0xE2, ["•", "…", "●"].contains(where: { value[place...].starts(with: $0.utf8) }) { return true }
        }
        let end = value.reversed().prefix { $0 | 0x20 == 0x78 }.count
        return end >= 6 && value.dropLast(end).allSatisfy { !($0 &- 0x30 < 10) }
    }

    private static func isColour(_ value: UnsafeRawBufferPointer) -> Bool {
        value.first == UInt8(ascii: "#") && [4, 7, 9].contains(value.count)
            && value.dropFirst().allSatisfy(ValueShape.isHexadecimal)
    }

    /// Whether a value is a version, or a range of them as a list of packages has it: `^3.1.0`, `1.2.3`.
    private static func isVersion(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 24 else { return false }
        var rest = value.drop { "^~<>=v ".utf8.contains($0) }
        let major = rest.prefix { $0 &- 0x30 < 10 }
        guard (1...4).contains(major.count) else { return false }
        rest = rest.dropFirst(major.count)
        var points = 0
        while rest.first == UInt8(ascii: ".") {
            let number = rest.dropFirst().prefix {
                $0 &- 0x30 < 10 || $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: "*")
            }
            guard (1...5).contains(number.count) else { return false }
            rest = rest.dropFirst(1 + number.count)
            points += 1
        }
        let isRange = value.first.map { "^~<>".utf8.contains($0) } ?? false
        return points >= (isRange ? 0 : 1) && points <= 3
            && (rest.isEmpty || rest.first == UInt8(ascii: "-") && rest.count <= 10)
    }

    /// Whether a value is the place of something, such as a URL, a path or the name of a resource, of words alone.
    private static func isPlace(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, value.count >= 4, value.count <= 400 else { return false }
        if ["arn:aws", "op://"].contains(where: { value.starts(with: $0.utf8) }) { return true }
        let slashes = value.count { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        guard slashes > 0 else { return false }
        let isPath =
            first == UInt8(ascii: "/") || first == UInt8(ascii: ".") || first == UInt8(ascii: "~")
            || first | 0x20 &- 0x61 < 26 && value[1] == UInt8(ascii: ":") && value[2] == UInt8(ascii: "\\")
        let isURL = value.prefix(16).firstIndex(of: UInt8(ascii: ":")).map { value[$0...].starts(with: "://".utf8) }
        let isResource = ["alias/", "vault:", "secret/"].contains { value.starts(with: $0.utf8) }
        guard isPath || isURL == true || isResource || slashes > 2 else { return false }
        return isWordsOfPath(value)
    }

    /// Whether no part of a path looks made by chance.
    private static func isWordsOfPath(_ value: UnsafeRawBufferPointer) -> Bool {
        value.split { !ValueShape.isLetterOrDigit($0) }.allSatisfy { part in
            let part = UnsafeRawBufferPointer(rebasing: part)
            let digits = part.count { $0 &- 0x30 < 10 }
            return part.count <= 32 && (part.count < 6 || !ValueShape.isInPieces(part) || digits == part.count)
                && (digits == 0 || digits == part.count || part.count <= 8)
        }
    }
}
