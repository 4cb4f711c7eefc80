import HTTPModel

/// The names of fields, parameters, cookies and elements with secret values. Only letters and digits count, in any
/// case: `X-Api-Key`, `api_key` and `apiKey` are one name.
package struct SecretNames: Sendable {
    static let longest = MaskRules.longestName
    /// Without the names of a profile.
    static let standard = SecretNames()

    /// Without the names that end with one of ``suffixes``.
    private static let exact = table([
        .password: """
        pass pwd pin pincode cvv cvc cvv2 cvc2 securitycode secretanswer mnemonic seedphrase password1 password2
        password3 passwordconfirmation passwordconfirm passwordconfirmed passwordrepeat passwordagain
        passwordverify passwordold passwordnew passwordhash pass1 pass2 pwd1 pwd2 userpass userpwd dbpass dbpwd
        adminpass rootpass smtppass mailpass ftppass proxypass authpass loginpass keypass storepass newpwd
        confirmpwd oldpwd currentpwd mysqlpwd pgpwd rootpw rootpwd adminpw dbpw userpw userpin cvvcode cvccode
        """,
        .token: """
        jwt bearer assertion clientassertion samlresponse ticket sas oauthverifier codeverifier devicecode
        connectionstring csrf xsrf secretvalue secretstring tokenvalue accesstokenvalue refreshtokenvalue
        """,
        .apiKey: "accountkey appkey authkey consumerkey encryptionkey masterkey secretkeybase signingkey apikeyvalue",
        .session: "sid sessid sessionkey phpsessid connectsid",
        .signature: "sig hmac",
        .code: """
        otp totp mfacode smscode otpcode authcode authorizationcode verificationcode passcode recoverycode
        backupcode totpcode confirmationcode
        """,
        .credential: "authorization proxyauthorization credential credentials authentication",
        .privateKey: "privatekeypem recoverykey sshkey",
        .card: "cardnumber creditcard creditcardnumber ccnumber pan",
    ])
    /// Names that may have an ending: `apikey_prod`, `token1`.
    private static let variants = table([
        .token: "token authtoken accesstoken apitoken clientsecret secret", .apiKey: "apikey secretkey accesskey",
    ])
    private static let variantEndings =
        (0...20).map { "\($0)" } + words("v1 v2 v3 prod production dev staging sandbox live primary secondary")
    private static let fields = table([
        .token: "auth firebaseauth jwtassertion googiapjwtassertion amznoidcdata firebaseappcheck",
        .apiKey: """
        adminkey servicekey functionskey appwritekey licensekey honeycombteam serversideencryptioncustomerkey
        amzserversideencryptioncustomerkey fastlykey ddapplicationkey parsemasterkey
        """,
        .credential: "usercredentials originalauthorization forwardedauthorization httpauthorization",
        .signature: "shopifyhmacsha256",
    ])
    private static let suffixes = table([
        .password: "password passwd passphrase passwort", .token: "token secret", .session: "sessionid",
        .apiKey: "apikey secretkey accesskey subscriptionkey", .privateKey: "privatekey",
        .signature: "signature signature256",
    ])
    /// Names that have ordinary values although they end so.
    private static let ordinary = Set(
        words(
            """
            prevtoken previoustoken starttoken endtoken stoptoken eostoken bostoken padtoken unktoken septoken clstoken
            masktoken maxtoken mintoken pertoken unexpectedtoken methodsignature functionsignature typesignature
            emailsignature clientrequesttoken inputtoken outputtoken designtoken colortoken colourtoken existingsecret
            """
        )
    )
    /// Endings of names for positions in lists.
    private static let ordinaryEndings = words(
        """
        nexttoken pagetoken continuationtoken synctoken paginationtoken resumptiontoken skiptoken deltatoken
        nextforwardtoken nextbackwardtoken cursortoken resumetoken scrolltoken idempotencytoken cancellationtoken
        progresstoken workdonetoken partialresulttoken
        """
    )
    private static let ordinaryBeginnings = words(
        "show hide has is no needs require requires enable disable allow minimum maximum invalid wrong missing"
    )
    private static let passwordBeginnings = words("forgot forgotten reset change remember")

    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map { String($0) }
    }

    private static func table(_ names: [SecretKind: String]) -> [String: SecretKind] {
        names.reduce(into: [:]) { table, row in for name in words(row.value) { table[name] = row.key } }
    }

    private let table: [String: SecretKind]
    /// A prefilter: for each first byte of a name in `table` the lengths of such names, as bits.
    private var lengths = [UInt64](repeating: 0, count: 256)
    private let endings: [(ending: [UInt8], kind: SecretKind)]
    private var exempt: Set<String> = []
    private var exemptEndings: [String] = []

    /// With `*` at the beginning a name in `also` or `except` is an ending.
    package init(also: [String] = [], except: [String] = []) {
        var table = SecretNames.exact
        for (name, kind) in SecretNames.variants {
            for ending in SecretNames.variantEndings { table[name + ending] = kind }
        }
        var endings = SecretNames.suffixes.map { (Array($0.key.utf8), $0.value) }
        for name in also {
            let plain = SecretNames.normalised(name.utf8)
            if name.hasPrefix("*") { endings.append((Array(plain.utf8), .named)) } else { table[plain] = .named }
        }
        self.table = table
        self.endings = endings
        for name in table.keys { lengths[Int(name.utf8.first ?? 0)] |= SecretNames.bit(name.utf8.count) }
        for name in except {
            let plain = SecretNames.normalised(name.utf8)
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
        if SecretNames.isOrdinary(SecretNames.normalised(rest.utf8)) { return nil }
        if let kind = kind(of: name.utf8) { return kind }
        if let kind = SecretNames.fields[SecretNames.normalised(rest.utf8)] { return isExempt(rest.utf8) ? nil : kind }
        return isExtension ? kind(of: rest.utf8) : nil
    }

    private func kind(ofPlain name: UnsafeRawBufferPointer, isWhole: Bool) -> SecretKind? {
        guard let first = name.first, let last = name.last else { return nil }
        // The prefilter, before a string is made.
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
        func begins(with words: [String]) -> Bool { words.contains { rest == $0 || rest.hasPrefix($0 + "my") } }
        if begins(with: SecretNames.ordinaryBeginnings) { return nil }
        if ending.kind == .password, begins(with: SecretNames.passwordBeginnings) { return nil }
        return ending.kind
    }

    private static func isOrdinary(_ name: String) -> Bool {
        ordinary.contains(name) || name.last == "n" && ordinaryEndings.contains { name.hasSuffix($0) }
    }

    func isExempt(_ name: some Collection<UInt8>) -> Bool {
        (!exempt.isEmpty || !exemptEndings.isEmpty) && isExempt(plain: SecretNames.normalised(name))
    }

    private func isExempt(plain name: String) -> Bool {
        exempt.contains(name) || exemptEndings.contains { name.hasSuffix($0) }
    }

    /// Of a longer name only the ending counts.
    static func normalised(_ name: some Collection<UInt8>) -> String {
        String(decoding: name.suffix(longest).compactMap { plain($0) }, as: UTF8.self)
    }

    private static func plain(_ byte: UInt8) -> UInt8? { byte.isLetter ? byte | 0x20 : byte.isDigit ? byte : nil }
}
