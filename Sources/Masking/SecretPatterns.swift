import Expressions
import HTTPModel

/// Secrets that are known by their look. A pattern is tried only at its beginnings, so that other bytes are passed over
/// quickly.
struct SecretPatterns {
    private struct Pattern {
        let kind: SecretKind
        let name: String
        let beginnings: [[UInt8]]
        let expression: RegularExpression?
        /// Whether words are excluded: names may begin like keys.
        let isRandom: Bool

        /// `beginnings` has spaces between them.
        init(_ kind: SecretKind, _ name: String, _ beginnings: String, _ expression: String, isRandom: Bool = true) {
            self.kind = kind
            self.name = name
            self.beginnings = beginnings.split(separator: " ").map { Array($0.utf8) }
            let beginning = "\\A(?:\(expression))"
            self.expression = try? RegularExpression(beginning, isCaseSensitive: true, takesAnyBytes: true)
            self.isRandom = isRandom
        }
    }

    /// The longest match in bytes; a longer key continues to the end of its word, a private key to its last line.
    private static let longest = 16 << 10

    // From the rules of gitleaks. If an expression has a group, the group is the secret.
    private static let table: [Pattern] = [
        Pattern(.token, "JSON Web Token", "eyJ", #"eyJ[\w-]{8,}\.(?:[\w-]*\.){3}[\w-]+"#, isRandom: false),
        Pattern(.token, "JSON Web Token", "eyJ", #"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"#, isRandom: false),
        Pattern(
            .privateKey,
            "private key",
            "-----BEGIN",
            #"-----BEGIN(?:[ +]|%20)(?:[A-Z0-9]+(?:[ +]|%20)){0,3}PRIVATE(?:[ +]|%20)KEY(?:(?:[ +]|%20)BLOCK)?-----((?:(?!-----)[^\0])*+)"#,
            isRandom: false
        ),
        Pattern(.apiKey, "AWS access key", "AKIA ASIA ABIA ACCA", #"A[KSBC][ICA]A[A-Z2-7]{16}\b"#, isRandom: false),
        Pattern(.apiKey, "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_[0-9A-Za-z]{26,255}"),
        Pattern(.apiKey, "GitHub token", "github_pat_", #"github_pat_\w{29,255}"#),
        Pattern(.apiKey, "GitLab token", "glpat- glrt- gldt- glptt-", #"gl(?:pat|rt|dt|ptt)-[\w.-]{14,}"#),
        Pattern(.apiKey, "Slack token", "xox xapp-", #"(?:xox[abeoprs]|xapp)-[\w-]{15,}"#),
        Pattern(.apiKey, "Stripe key", "sk_ rk_", "[sr]k_(?:live|test|prod)_[0-9A-Za-z]{10,255}"),
        Pattern(.apiKey, "webhook secret", "whsec_", "whsec_[0-9A-Za-z+/=]{14,}"),
        Pattern(.apiKey, "Google API key", "AIza", #"AIza[\w-]{35}"#),
        Pattern(.apiKey, "Google token", "ya29. GOCSPX-", #"(?:ya29\.[\w.-]{15,}|GOCSPX-[\w-]{20,})"#),
        Pattern(.apiKey, "OpenAI or Anthropic key", "sk-", #"sk-[\w-]{29,}"#),
        Pattern(.apiKey, "SendGrid key", "SG.", #"SG\.[\w.-]{37,}"#),
        Pattern(.apiKey, "Twilio key", "SK", #"SK[0-9a-fA-F]{32}\b"#, isRandom: false),
        Pattern(.apiKey, "npm or PyPI token", "npm_ pypi-", #"npm_[0-9A-Za-z]{26,}|pypi-[\w-]{35,}"#),
        Pattern(
            .apiKey,
            "key of a service",
            "hf_ gsk_ sbp_ ntn_ r8_ figd_ shpat_ shpss_ dop_v1_ lin_api_ glsa_ sq0atp- key- dapi hvs. dckr_pat_ ATATT3 "
                + "pat-na1- pat-eu1- NRAK- xkeysib- PMAK- rubygems_ sntrys_ tskey- EAAC",
            #"(?:(?:hf|gsk|sbp|ntn|r8|figd|shpat|shpss|dop_v1|lin_api|glsa|rubygems|sntrys)_|EAAC|dapi|ATATT3)[\w=.-]{26,}"#
                + #"|(?:sq0atp|key|pat-[en][ua]1|NRAK|xkeysib|PMAK|tskey)-[\w-]{22,}|hvs\.[\w-]{20,}|dckr_pat_[\w-]{18,}"#
        ),
        Pattern(.apiKey, "age key", "AGE-SECRET-KEY-", "AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
        Pattern(.token, "token of a bot", "bot", #"bot\d{8,10}:([\w-]{35})\b"#),
        Pattern(.token, "webhook", "/services/T", #"/services/T\w{6,}/B\w{6,}/(\w{20,})"#),
        Pattern(.token, "webhook", "/webhooks/", #"/webhooks/\d{8,}/([\w-]{20,})"#),
    ]

    private static let email = Pattern(
        .email,
        "e-mail address",
        "",
        #"[\w.+-]{1,64}(?:@|%40)(?!\dx\.)[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.(?:[A-Za-z]{2,}|xn--[\w-]+)"#
    )
    private static let card = Pattern(
        .card,
        "card number",
        "",
        #"\d{4}([ +-]|%20|%2[Dd])(?:\d{4}\1\d{4}\1\d{1,4}|\d{6}\1\d{4,5})(?!\d)|\d{13,19}(?!\w)"#
    )

    private static let pairs: [Bool] = {
        var pairs = Array(repeating: false, count: 1 << 16)
        for pattern in table {
            for beginning in pattern.beginnings { pairs[Int(beginning[0]) << 8 | Int(beginning[1])] = true }
        }
        return pairs
    }()

    private static let starts: [[(beginning: [UInt8], pattern: Pattern)]] = (0...255).map { byte in
        table.flatMap { pattern in pattern.beginnings.filter { Int($0[0]) == byte }.map { ($0, pattern) } }
    }

    private let bytes: UnsafeRawBufferPointer
    private var found: [FoundSecret] = []

    static func secrets(in bytes: UnsafeRawBufferPointer, _ choice: Set<MaskRules.Pattern>) -> [FoundSecret] {
        var patterns = SecretPatterns(bytes: bytes)
        patterns.scan()
        if choice.contains(.email) { patterns.scanAddresses() }
        if choice.contains(.card) { patterns.scanCards() }
        return patterns.found
    }

    private mutating func scan() {
        guard bytes.count > 8 else { return }
        SecretPatterns.pairs.withUnsafeBufferPointer { pairs in
            var (place, pair) = (1, Int(bytes[0]))
            while place < bytes.count {
                pair = (pair << 8 | Int(bytes[place])) & 0xFFFF
                if pairs[pair], let end = secret(at: place - 1), place < end {
                    place = end
                    pair = end < bytes.count ? Int(bytes[end]) : 0
                }
                place += 1
            }
        }
    }

    /// Returns the end of the secret.
    private mutating func secret(at place: Int) -> Int? {
        let rest = bytes[place...]
        for (beginning, pattern) in SecretPatterns.starts[Int(bytes[place])] where rest.starts(with: beginning) {
            // A key does not begin within a word; other beginnings, such as `/services/T`, count anywhere.
            guard !beginning[0].isLetter || SecretPatterns.beginsWord(bytes, place),
                var range = match(pattern, at: place)
            else { continue }
            if range.upperBound == place + SecretPatterns.longest {
                let isPEM = pattern.kind == .privateKey
                let end = bytes.runEnd(from: range.upperBound) {
                    isPEM ? $0 != UInt8(ascii: "-") : $0.isLetterOrDigit || "_-.".utf8.contains($0)
                }
                range = range.lowerBound..<end
            }
            if pattern.kind == .privateKey, !isKey(range) { return range.upperBound }
            if pattern.isRandom, !SecretPatterns.isNoName(bytes.part(range)) { continue }
            let secret = Array(bytes[range])
            let plain = pattern.kind == .privateKey ? PlainValue.ofForm(PlainValue.ofJSON(secret)) : secret
            add(pattern, range, plain)
            return range.upperBound
        }
        return nil
    }

    private func match(_ pattern: Pattern, at place: Int, longest: Int = SecretPatterns.longest) -> Range<Int>? {
        let subject = bytes.part(place..<min(bytes.count, place + longest))
        var range: Range<Int>?
        try? pattern.expression?.forEachMatch(in: subject) { match in
            let found = (pattern.kind == .card ? nil : match.group(1)) ?? match.whole
            range = found.moved(by: place)
            return false
        }
        return range
    }

    /// Whether it is a private key and not text about keys.
    private func isKey(_ range: Range<Int>) -> Bool {
        let content = bytes[range].drop { $0 <= 0x20 || "\\nr".utf8.contains($0) }
        guard let first = content.first, !content.prefix(4).allSatisfy({ $0 | 0x20 == 0x78 }) else { return false }
        let runs = content.prefix(4_096).split { !$0.isLetterOrDigit && !"+/%".utf8.contains($0) }
        return runs.contains { $0.count >= 16 } || !".\"',`])<".utf8.contains(first)
    }

    /// Whether a key is not made of words; it may have no digit.
    private static func isNoName(_ key: UnsafeRawBufferPointer) -> Bool {
        (ValueShape.isInPieces(key) || ValueShape.rarerCase(key) * 6 >= key.count) && ValueShape.entropy(key) >= 3
    }

    /// Whether a word begins here: after a character that is not of words, a JSON escape or a percent-encoded byte.
    static func beginsWord(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        guard place > 0 else { return true }
        let before = bytes[place - 1]
        return !(before.isLetterOrDigit || "_-".utf8.contains(before)) || endsEscape(bytes, place)
    }

    static func endsEscape(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        place > 1 && bytes[place - 2] == UInt8(ascii: "\\") && "nrtbf".utf8.contains(bytes[place - 1])
            || place > 2 && bytes[place - 3] == UInt8(ascii: "%") && bytes[place - 2].hexadecimalValue != nil
                && bytes[place - 1].hexadecimalValue != nil
    }

    // MARK: By choice

    private static let longestAddress = 320

    private mutating func scanAddresses() {
        var end = 0
        for place in bytes.indices {
            let isAt = bytes[place] == UInt8(ascii: "@")
            guard isAt || bytes[place] == UInt8(ascii: "%") && bytes[place...].starts(with: "%40".utf8) else {
                continue
            }
            var start = bytes.runStart(before: place, from: end, most: 64) {
                $0.isLetterOrDigit || ".+_-".utf8.contains($0)
            }
            // The letter of `\n` and the digits of `%20` are not part of the address.
            if start > 0, bytes[start - 1] == UInt8(ascii: "\\"), "nrt".utf8.contains(bytes[start]) { start += 1 }
            if start > 0, bytes[start - 1] == UInt8(ascii: "%"), start + 2 < place { start += 2 }
            guard start < place,
                let range = match(SecretPatterns.email, at: start, longest: SecretPatterns.longestAddress),
                range.upperBound > place
            else { continue }
            add(SecretPatterns.email, range, PercentEncoding.decoded(bytes[range]) ?? Array(bytes[range]))
            end = range.upperBound
        }
    }

    private mutating func scanCards() {
        var place = 0
        while let start = bytes[place...].firstIndex(where: \.isDigit) {
            place = bytes.runEnd(from: start) { $0.isDigit }
            guard start == 0 || !bytes[start - 1].isLetterOrDigit || SecretPatterns.endsEscape(bytes, start),
                let range = match(SecretPatterns.card, at: start, longest: 40)
            else { continue }
            let digits = PlainValue.ofForm(bytes[range])
            guard digits.withUnsafeBytes(ValueShape.isCard) else { continue }
            add(SecretPatterns.card, range, digits)
            place = range.upperBound
        }
    }

    private mutating func add(_ pattern: Pattern, _ range: Range<Int>, _ secret: [UInt8]) {
        found.append(FoundSecret(range: range, kind: pattern.kind, name: pattern.name, secret: secret))
    }
}
