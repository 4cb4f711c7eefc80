import HTTPModel

/// The names of fields, parameters, cookies and elements with secret values. Only letters and digits count, in any
/// case: `X-Api-Key`, `api_key` and `apiKey` are one name.
package struct SecretNames: Sendable {
    static let longest = MaskRules.longestName
    /// Without the names of a profile.
    static let standard = SecretNames()

    private static let exact: [SecretKind: [String]] = [
        .password: [
            "pass", "pwd", "passwd", "passphrase", "pin", "pincode", "cvv", "cvc", "cvv2", "cvc2", "securitycode",
            "secretanswer", "mnemonic", "seedphrase", "password1", "password2", "password3", "passwordconfirmation",
            "passwordconfirm", "passwordconfirmed", "passwordrepeat", "passwordagain", "passwordverify", "passwordold",
            "passwordnew", "passwordhash", "pass1", "pass2", "pwd1", "pwd2", "userpass", "userpwd", "dbpass", "dbpwd",
            "adminpass", "rootpass", "smtppass", "mailpass", "ftppass", "proxypass", "authpass", "loginpass", "keypass",
            "storepass", "newpwd", "confirmpwd", "oldpwd", "currentpwd", "mysqlpwd", "pgpwd", "rootpw", "rootpwd",
            "adminpw", "dbpw", "userpw", "userpin", "cvvcode", "cvccode",
        ],
        .token: [
            "jwt", "bearer", "assertion", "clientassertion", "samlresponse", "ticket", "sas", "oauthverifier",
            "codeverifier", "devicecode", "connectionstring", "csrf", "xsrf", "secretvalue", "secretstring",
            "tokenvalue", "accesstokenvalue", "refreshtokenvalue",
        ],
        .apiKey: [
            "accesskey", "accountkey", "apikey", "appkey", "authkey", "consumerkey", "encryptionkey", "masterkey",
            "secretkey", "secretkeybase", "sharedaccesskey", "signingkey", "subscriptionkey", "apikeyvalue",
            "adminapikey",
        ],
        .session: [
            "sid", "sessionid", "sessid", "sessionkey", "jsessionid", "phpsessid", "connectsid", "aspnetsessionid",
        ],
        .signature: ["sig", "signature", "hmac", "sharedaccesssignature"],
        .code: [
            "otp", "totp", "mfacode", "smscode", "otpcode", "authcode", "authorizationcode", "verificationcode",
            "passcode", "recoverycode", "backupcode", "totpcode", "confirmationcode",
        ],
        .credential: ["authorization", "proxyauthorization", "credential", "credentials", "authentication"],
        .privateKey: ["privatekey", "privatekeypem", "recoverykey", "sshkey"],
        .card: ["cardnumber", "creditcard", "creditcardnumber", "ccnumber", "pan"],
    ]
    /// Names that may have an ending: `apikey_prod`, `token1`.
    private static let variants: [(names: [String], kind: SecretKind)] = [
        (["token", "authtoken", "accesstoken", "apitoken", "clientsecret", "secret"], .token),
        (["apikey", "secretkey", "accesskey"], .apiKey),
    ]
    private static let variantEndings =
        (0...20).map { "\($0)" } + [
            "v1", "v2", "v3", "prod", "production", "dev", "staging", "sandbox", "live", "primary", "secondary",
        ]
    private static let fields: [String: SecretKind] = [
        "auth": .token, "firebaseauth": .token, "jwtassertion": .token, "apikeyvalue": .apiKey, "adminkey": .apiKey,
        "servicekey": .apiKey, "functionskey": .apiKey, "appwritekey": .apiKey, "licensekey": .apiKey,
        "honeycombteam": .apiKey, "serversideencryptioncustomerkey": .apiKey,
        "amzserversideencryptioncustomerkey": .apiKey, "usercredentials": .credential,
        "originalauthorization": .credential, "forwardedauthorization": .credential, "httpauthorization": .credential,
        "googiapjwtassertion": .token, "amznoidcdata": .token, "firebaseappcheck": .token,
        "shopifyhmacsha256": .signature, "fastlykey": .apiKey, "ddapplicationkey": .apiKey, "parsemasterkey": .apiKey,
    ]
    private static let suffixes: [(ending: String, kind: SecretKind)] = [
        ("password", .password), ("passwd", .password), ("passphrase", .password), ("passwort", .password),
        ("token", .token), ("secret", .token), ("apikey", .apiKey), ("secretkey", .apiKey), ("accesskey", .apiKey),
        ("subscriptionkey", .apiKey), ("privatekey", .privateKey), ("sessionid", .session), ("signature", .signature),
        ("signature256", .signature),
    ]
    /// Names with ordinary values in spite of such an ending.
    private static let ordinary: Set<String> = [
        "prevtoken", "previoustoken", "starttoken", "endtoken", "stoptoken", "eostoken", "bostoken", "padtoken",
        "unktoken", "septoken", "clstoken", "masktoken", "maxtoken", "mintoken", "pertoken", "unexpectedtoken",
        "methodsignature", "functionsignature", "typesignature", "emailsignature", "clientrequesttoken", "inputtoken",
        "outputtoken", "designtoken", "colortoken", "colourtoken", "existingsecret",
    ]
    /// Positions in lists.
    private static let ordinaryEndings = [
        "nexttoken", "pagetoken", "continuationtoken", "synctoken", "paginationtoken", "resumptiontoken", "skiptoken",
        "deltatoken", "nextforwardtoken", "nextbackwardtoken", "cursortoken", "resumetoken", "scrolltoken",
        "idempotencytoken", "cancellationtoken", "progresstoken", "workdonetoken", "partialresulttoken",
    ]
    private static let ordinaryBeginnings =
        """
        show hide has is no needs require requires enable disable allow minimum maximum invalid wrong missing
        """.split(separator: " ")
    private static let passwordBeginnings = "forgot forgotten reset change remember".split(separator: " ")

    private let table: [String: SecretKind]
    /// The lengths of names in `table` by their first byte, as bits: a quick test for most other names.
    private var lengths = [UInt64](repeating: 0, count: 256)
    private let endings: [(ending: [UInt8], kind: SecretKind)]
    private var exempt: Set<String> = []
    private var exemptEndings: [String] = []

    /// With `*` at the beginning a name in `also` or `except` is an ending.
    package init(also: [String] = [], except: [String] = []) {
        var table: [String: SecretKind] = [:]
        for (kind, names) in SecretNames.exact { for name in names { table[name] = kind } }
        for (names, kind) in SecretNames.variants {
            for name in names { for ending in SecretNames.variantEndings { table[name + ending] = kind } }
        }
        var endings = SecretNames.suffixes.map { (Array($0.ending.utf8), $0.kind) }
        for name in also {
            let plain = SecretNames.normalised(name)
            if name.hasPrefix("*") { endings.append((Array(plain.utf8), .named)) } else { table[plain] = .named }
        }
        self.table = table
        self.endings = endings
        for name in table.keys { lengths[Int(name.utf8.first ?? 0)] |= SecretNames.bit(name.utf8.count) }
        for name in except {
            let plain = SecretNames.normalised(name)
            if name.hasPrefix("*") { exemptEndings.append(plain) } else { exempt.insert(plain) }
        }
    }

    private static func bit(_ length: Int) -> UInt64 { 1 << min(length, 63) }

    package func kind(of name: some Collection<UInt8>) -> SecretKind? {
        // Of a longer name only the ending counts.
        let isWhole = name.count <= SecretNames.longest
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SecretNames.longest) { buffer in
            var count = 0
            for byte in name.suffix(SecretNames.longest) {
                guard let plain = SecretNames.plain(byte) else { continue }
                buffer[count] = plain
                count += 1
            }
            let plain = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
            return kind(ofPlain: plain, isWhole: isWhole)
        }
    }

    func kind(ofField name: String) -> SecretKind? {
        guard !isExempt(name.utf8) else { return nil }
        let isExtension = name.lowercased().hasPrefix("x-")
        let rest = isExtension ? String(name.dropFirst(2)) : name
        if SecretNames.isOrdinary(SecretNames.normalised(rest)) { return nil }
        if let kind = kind(of: name.utf8) { return kind }
        if let kind = SecretNames.fields[SecretNames.normalised(rest)] { return isExempt(rest.utf8) ? nil : kind }
        return isExtension ? kind(of: rest.utf8) : nil
    }

    private func kind(ofPlain name: UnsafeRawBufferPointer, isWhole: Bool) -> SecretKind? {
        guard let first = name.first, let last = name.last else { return nil }
        // A quick test before a string is made.
        let ending = endings.first {
            $0.ending.last == last && name.count >= $0.ending.count
                && name.suffix($0.ending.count).elementsEqual($0.ending)
        }
        if ending == nil, lengths[Int(first)] & SecretNames.bit(name.count) == 0 { return nil }
        let text = String(decoding: name, as: UTF8.self)
        if isExempt(plain: text) { return nil }
        if isWhole, let kind = table[text] { return kind }
        guard let ending, !SecretNames.isOrdinary(text) else { return nil }
        let rest = text.dropLast(ending.ending.count)
        func begins(with words: [Substring]) -> Bool { words.contains { rest == $0 || rest.hasPrefix($0 + "my") } }
        if begins(with: SecretNames.ordinaryBeginnings) { return nil }
        if ending.kind == .password, begins(with: SecretNames.passwordBeginnings) { return nil }
        return ending.kind
    }

    private static func isOrdinary(_ name: String) -> Bool {
        ordinary.contains(name)
            || name.last == "n" && name.utf8.count <= longest && ordinaryEndings.contains { name.hasSuffix($0) }
    }

    func isExempt(_ name: some Collection<UInt8>) -> Bool {
        guard !exempt.isEmpty || !exemptEndings.isEmpty else { return false }
        let text = SecretNames.normalised(String(decoding: name.suffix(SecretNames.longest), as: UTF8.self))
        guard name.count <= SecretNames.longest else { return exemptEndings.contains { text.hasSuffix($0) } }
        return isExempt(plain: text)
    }

    private func isExempt(plain name: String) -> Bool {
        exempt.contains(name) || exemptEndings.contains { name.hasSuffix($0) }
    }

    static func normalised(_ name: String) -> String {
        String(decoding: name.utf8.compactMap { plain($0) }, as: UTF8.self)
    }

    static func plain(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        default: nil
        }
    }
}
