/// Keys that services give a look of their own: a beginning, or a place in a URL.
extension RunScanner {
    /// Beginnings that services give their keys, and the least length of one.
    private static let beginnings: [(text: StaticString, least: Int)] = [
        ("ghp_", 30), ("gho_", 30), ("ghu_", 30), ("ghs_", 30), ("ghr_", 30), ("github_pat_", 40), ("glpat-", 20),
        ("xoxb-", 24), ("xoxp-", 24), ("xoxa-", 24), ("xoxr-", 24), ("xapp-", 24), ("sk_live_", 20), ("sk_test_", 20),
        ("rk_live_", 20), ("rk_test_", 20), ("whsec_", 20), ("sk-", 32), ("AIza", 39), ("ya29.", 20), ("SG.", 40),
        ("npm_", 30), ("pypi-", 40), ("hf_", 30), ("shpat_", 30), ("shpss_", 30), ("dop_v1_", 40),
        ("AGE-SECRET-KEY-", 40),
        ("EAAC", 40), ("sq0atp-", 22), ("key-", 36), ("dapi", 36), ("lin_api_", 32), ("glsa_", 32),
        ("GOCSPX-", 28), ("hvs.", 24), ("dckr_pat_", 27), ("ATATT3", 40), ("pat-na1-", 40), ("pat-eu1-", 40),
        ("gsk_", 40), ("sbp_", 40), ("NRAK-", 27), ("xkeysib-", 40), ("figd_", 40), ("ntn_", 40), ("PMAK-", 40),
        ("rubygems_", 40), ("sntrys_", 40), ("glrt-", 20), ("tskey-", 30), ("r8_", 37),
    ]
    /// Of these the rest is base64 with all its signs.
    private static let isBase64: [StaticString] = ["whsec_"]

    mutating func serviceKey(at place: Int, in range: Range<Int>) -> Int? {
        guard let beginning = beginning(at: place, in: range) else { return nil }
        let takesSigns = RunScanner.isBase64.contains { bytes[place...].starts(with: RunScanner.buffer($0)) }
        var end = place
        func go(to most: Int) {
            while end < most,
                RunScanner.isOfBase64(bytes[end]) || bytes[end] == UInt8(ascii: ".")
                    || takesSigns && "+/=".utf8.contains(bytes[end])
            { end += 1 }
        }
        // A beginning may come again and again in a run that is no key: of each so much is looked at.
        go(to: min(range.upperBound, place + 256))
        guard end - place >= RunScanner.least, isKey(place..<end, after: beginning) else { return nil }
        go(to: range.upperBound)
        take(place..<end, .apiKey, "key of a service")
        return end
    }

    /// How many bytes the beginning has that stands at a place.
    private func beginning(at place: Int, in range: Range<Int>) -> Int? {
        let found = RunScanner.beginnings.first { beginning in
            let text = RunScanner.buffer(beginning.text)
            guard bytes[place] == text[0], range.upperBound - place >= beginning.least,
                bytes[place..<place + text.count].elementsEqual(text)
            else { return false }
            // Letters alone may stand anywhere in a text in base64, behind its signs, too.
            let isBehindSign = place > range.lowerBound && "+/".utf8.contains(bytes[place - 1])
            return !isBehindSign || !text.allSatisfy(ValueShape.isLetterOrDigit)
        }
        return found?.text.utf8CodeUnitCount
    }

    /// Whether what stands behind a beginning is no words. It may have hardly a digit, or none.
    private func isKey(_ range: Range<Int>, after beginning: Int) -> Bool {
        if ValueShape.isRandom(UnsafeRawBufferPointer(rebasing: bytes[range])) { return true }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[range].dropFirst(beginning))
        let large = rest.count { $0 &- 0x41 < 26 }
        let small = rest.count { $0 &- 0x61 < 26 }
        // Of a name a sixth is in capitals at the most.
        return (ValueShape.isInPieces(rest) || min(large, small) * 6 >= rest.count) && ValueShape.entropy(rest) > 3
    }

    private static func buffer(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private static let shortestWebhook = 20
    private static let botTokenLength = 35

    /// Takes the last segment of the address of a webhook: `/services/T…/B…/…` of Slack, `/webhooks/…/…` of Discord.
    mutating func webhook(inPath path: Range<Int>) {
        let segments = bytes[path].split(separator: UInt8(ascii: "/"))
        for (index, word) in segments.enumerated() where index + 2 < segments.count {
            let secret: Slice<UnsafeRawBufferPointer>
            if word.elementsEqual("services".utf8), index + 3 < segments.count,
                segments[index + 1].first == UInt8(ascii: "T"), segments[index + 2].first == UInt8(ascii: "B")
            {
                secret = segments[index + 3]
            } else if word.elementsEqual("webhooks".utf8), segments[index + 1].allSatisfy({ $0 &- 0x30 < 10 }) {
                secret = segments[index + 2]
            } else {
                continue
            }
            guard secret.count >= RunScanner.shortestWebhook else { continue }
            return take(secret.startIndex..<secret.endIndex, .token, "webhook")
        }
    }

    /// Takes what stands behind the colon in the token of a bot of Telegram, `123456789:…`.
    mutating func botToken(in range: Range<Int>) {
        guard range.lowerBound > 8, bytes[range.lowerBound - 1] == UInt8(ascii: ":") else { return }
        let token = bytes[range].prefix { ValueShape.isLetterOrDigit($0) || "-_".utf8.contains($0) }
        let digits = bytes[..<(range.lowerBound - 1)].suffix(11).reversed().prefix { $0 &- 0x30 < 10 }.count
        guard token.count == RunScanner.botTokenLength, (8...10).contains(digits),
            ValueShape.isMadeByChance(UnsafeRawBufferPointer(rebasing: token), least: RunScanner.least)
        else { return }
        take(token.startIndex..<token.endIndex, .token, "token of a bot")
    }
}
