import Expressions

/// Ordinary values under the names of secrets: templates, covered values (`****`), words for states, names, paths.
enum OrdinaryValue {
    enum Origin {
        /// Passwords in requests are secrets even if they are words.
        case request
        case response
    }

    static func isOne(
        _ value: UnsafeRawBufferPointer,
        _ kind: SecretKind,
        name: some Collection<UInt8>,
        _ origin: Origin
    ) -> Bool {
        guard !value.isEmpty, !Placeholder.isOne(value) else { return true }
        if kind == .named { return isLiteral(value) }
        if isLiteral(value) || isTemplate(value) { return true }
        let plain = SecretNames.normalised(name)
        if kind == .password { return isNoPassword(value, plain, origin) }
        if kind == .card { return !ValueShape.isCard(value) }
        if isWord(value, kind, origin) { return true }
        if kind == .code {
            let hasGroups = value.allSatisfy { $0.isDigit || $0 == 0x20 || $0 == UInt8(ascii: "-") }
            return value.contains(0x20) && !hasGroups || value.count > 4 && isVersion(value)
        }
        let isPair = kind == .credential && value.contains(UInt8(ascii: ":")) && !value.contains(UInt8(ascii: "\""))
        if randomOnly.contains(plain), !isPair { return !ValueShape.isMadeByChance(value, least: 12) }
        if kind == .signature { return !ValueShape.isRandom(value) }
        if plain.hasSuffix("secret") { return isSentence(value) || isLabel(value, plain) || isPlace(value) }
        if kind != .credential, value.contains(0x20) { return true }
        if kind != .privateKey, kind != .credential, value.count < 4 { return true }
        return isLabel(value, plain) || isVersion(value) || isPlace(value)
    }

    private static func isLiteral(_ value: UnsafeRawBufferPointer) -> Bool {
        ["true", "false", "null"].contains { value.elementsEqual($0.utf8) }
    }

    private static func whole(_ pattern: String) -> RegularExpression? {
        try? RegularExpression(pattern, isCaseSensitive: true, isWhole: true, takesAnyBytes: true)
    }

    private static func matches(_ value: UnsafeRawBufferPointer, _ pattern: RegularExpression?) -> Bool {
        guard value.count <= 160, let pattern else { return false }
        return (try? pattern.matches(value)) ?? false
    }

    private static let templates: RegularExpression? = {
        let framed = [
            #"\$\{\{?[^{}]*\}?\}"#, #"\{\{\{?[^{}]*\}?\}\}"#, "<%[^%]*%>", #"<\?[^?]*\?>"#, #"\{%[^%]*%\}"#,
            #"\[\[[^\]]*\]\]"#, "<[^<>\"=]{1,80}>", #"[#@%]\{[\w .-]+\}"#, #"\$\([^()]+\)"#, #"%\(\w+\)s"#,
            #"%env\([^()]*\)%"#, #"\{[A-Za-z_. -]+\}"#, #"\{\d{0,2}\}"#, #"\[[A-Za-z_ .-]+\]"#, "__[A-Z_]+__",
            "@@?[A-Z_]+@@?", #"\$[A-Z][A-Z0-9_]*"#, #"\$\d"#, "%[A-Z][A-Z0-9_]+%", "%[sdv]", #"\*+[A-Z _-]+\*+"#,
        ]
        let covered = [
            "(?:[*.x_ -]|•|●|∙|·|…|X)+", #"[\w.-]{0,10}(?:\*{3}|•|…|\.\.\.)(?:[\w.*-]|•|…){0,10}"#,
            "[a-zA-Z_-]{0,10}x{6,}",
        ]
        let one = "(?:\(framed.joined(separator: "|")))"
        return whole("\(one)(?:[:/.@ -]+\(one))*|:[a-z_]+|\(covered.joined(separator: "|"))")
    }()

    /// Words of documentation: `YOUR_TOKEN`, `changeme`, `insert-key-here`.
    private static let documentation = whole(
        "(?i)your[-_ .]?[a-z_ .-]*|[a-z_ .-]+[-_ .]your[a-z_ .-]*"
            + "|(?:insert|replace|enter|paste|put|add|fill|change|set)[-_ ]?(?:me|this|with|your|it|in|here|api|the|my)[a-z_ .-]*"
            + "|(?:process\\.env\\.|env[.:])\\w+|op://.*|[a-z_ .-]+[-_ ]here"
    )

    static func isTemplate(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first else { return false }
        // The expression is slow, and most values are no templates.
        let mayBeCovered = value.contains { $0 == UInt8(ascii: "*") || $0 == 0xE2 || $0 == 0xC2 }
        let mayEndCovered = value.suffix(3).allSatisfy { ".xX".utf8.contains($0) }
        return ("$%<[{#@_*:(.-".utf8.contains(first) || mayBeCovered || mayEndCovered) && matches(value, templates)
    }

    static func isWord(_ value: UnsafeRawBufferPointer, _ kind: SecretKind, _ origin: Origin) -> Bool {
        if kind == .password, origin == .request { return false }
        return isWord(value) || matches(value, documentation)
    }

    private static let words: Set<String> = [
        "true", "false", "null", "nil", "none", "undefined", "anonymous", "public", "bearer", "basic", "digest", "mac",
        "jwt", "opaque", "string", "number", "boolean", "object", "text", "password", "passwort", "token", "secret",
        "required", "optional", "hidden", "masked", "redacted", "removed", "invalid", "expired", "missing", "new",
        "current-password", "new-password", "one-time-code", "off", "on", "yes", "no", "unknown", "default", "include",
        "omit", "same-origin", "disabled", "enabled", "header", "query", "cookie", "inherit", "auto", "manual", "never",
        "always", "denied", "granted", "allowed", "forbidden", "rejected", "revoked", "active", "inactive", "pending",
        "verified", "unverified", "valid", "failed", "fail", "passed", "success", "ok", "empty", "unset", "n/a", "tbd",
        "todo", "mandatory", "incorrect", "wrong", "weak", "strong", "(none)", "not set", "sms", "email", "match",
        "unchecked", "read", "write", "seconds", "minutes", "hours", "days", "rs256", "rs512", "hs256", "hs384",
        "hs512", "es256", "ps256", "eddsa",
        "contraseña", "mot de passe", "wachtwoord", "senha", "hasło", "пароль", "密码", "密碼", "パスワード", "비밀번호",
        "lösenord", "adgangskode", "passord", "salasana", "heslo", "jelszó", "şifre", "parola", "kennwort",
    ]
    /// Ambiguous names: only random values count.
    private static let randomOnly: Set<String> = [
        "ticket", "sshkey", "assertion", "sas", "authentication", "credential", "credentials", "code", "auth",
    ]
    private static let withDigits: Set<String> = [
        "pin", "pincode", "userpin", "cvv", "cvc", "cvv2", "cvc2", "cvvcode", "cvccode", "securitycode",
    ]

    static func isWord(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count <= 20 && words.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    private static func isNoPassword(_ value: UnsafeRawBufferPointer, _ name: String, _ origin: Origin) -> Bool {
        if withDigits.contains(name) { return !value.contains(where: \.isDigit) }
        if ["mnemonic", "seedphrase"].contains(name) {
            return value.count { $0 == 0x20 || $0 == UInt8(ascii: "+") } < 5
        }
        // Such as `mustChangePassword=1`, and a number of passed tests.
        if value.allSatisfy(\.isDigit), value.count == 1 || name == "pass" && value.count < 4 { return true }
        if ["pwd", "oldpwd"].contains(name), value.first == UInt8(ascii: "/") { return true }
        return isWord(value, .password, origin) || origin == .response && isSentence(value)
    }

    /// A sentence about a secret: `Enter your password`, `This field is required.`
    private static func isSentence(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.contains(0x20), value.count <= 200 else { return false }
        let text = String(decoding: value, as: UTF8.self).lowercased()
        return [
            "password", "passwort", "contraseña", "mot de passe", "wachtwoord", "secret", "token", "required",
            "characters", "digits", "blank", "too short", "too long", "invalid", "incorrect", "must ", "…", "?",
        ]
        .contains { text.contains($0) }
            || !text.utf8.contains(where: \.isDigit) && ".!".contains(text.last ?? " ")
    }

    /// The name of a secret: `"apiKey": "API key"`, `"csrf": "X-CSRF-Token"`.
    private static func isLabel(_ value: UnsafeRawBufferPointer, _ name: String) -> Bool {
        guard value.count <= 40, !value.contains(where: \.isDigit) else { return false }
        if SecretNames.normalised(value) == name { return true }
        guard !name.hasSuffix("secret") || value.contains(UInt8(ascii: "_")) else { return false }
        return value.contains(where: { !$0.isLetter || $0 < 0x60 }) && SecretNames.standard.kind(of: value) != nil
    }

    private static let versions = whole(
        #"[~^<>=v ]*\d{1,4}(?:\.[\dx*]{1,5}){1,3}(?:-[\w.]{1,10})?|[~^<>]+\d+|#[0-9a-fA-F]{3,8}|[a-z]{2}-[A-Z]{2}|[a-z]{2,}(?:\.[a-z]{2,}){1,3}"#
    )

    /// A version, a color, a language, or words with dots between them.
    private static func isVersion(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count <= 24 && matches(value, versions)
    }

    private static func isPlace(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 400, value.contains(UInt8(ascii: "/")) || value.contains(UInt8(ascii: "\\")) else {
            return false
        }
        if value.starts(with: "arn:aws".utf8) { return true }
        let isPath = value.first.map { "/.~".utf8.contains($0) } ?? false
        let isURL =
            value.prefix(16).firstIndex(of: UInt8(ascii: ":")).map { value[$0...].starts(with: "://".utf8) } ?? false
        guard isPath || isURL || value.count(where: { $0 == UInt8(ascii: "/") }) > 2 else { return false }
        return value.split { !$0.isLetterOrDigit }.allSatisfy { part in
            let part = UnsafeRawBufferPointer(rebasing: part)
            let digits = part.count(where: \.isDigit)
            return part.count <= 32 && (digits == 0 || digits == part.count || part.count <= 8)
                && (part.count < 6 || !ValueShape.isInPieces(part))
        }
    }

    private static let common: Set<String> = [
        "user_name", "my-password", "your-password", "changeit", "change-me", "change_me", "letmein1", "password1",
        "administrator", "testpassword", "access_token", "refresh_token", "client_secret", "api_key", "authorization",
        "x-oauth-basic", "x-token-auth", "oauth2accesstoken",
    ]

    /// Whether a value is a word or a path of words, which is masked only at its name.
    static func isCommonWord(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 200 else { return false }
        if isWord(value) { return true }
        if value.count <= 20, common.contains(String(decoding: value, as: UTF8.self).lowercased()) { return true }
        let isPath =
            value.contains(UInt8(ascii: "/"))
            && (value.first == UInt8(ascii: "/") || value.prefix(8).contains(UInt8(ascii: ":")))
        let parts = value.split { !$0.isLetterOrDigit }
        return (isPath || parts.count <= 1)
            && parts.allSatisfy {
                $0.count <= 12 && $0[$0.startIndex].isLetter
                    && $0.dropFirst().allSatisfy { $0.isSmall }
            }
    }
}
