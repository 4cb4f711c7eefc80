extension TextMask {
    package var findingCount: Int { (findings?.secrets.count ?? 0) + candidates.count }

    package func takeFindings() -> Findings {
        var taken = findings ?? Findings()
        (taken.suspects, taken.unreadCount) = (candidates, unreadCount)
        findings = Findings()
        if taken.known.count <= Findings.mostRemembered { findings?.known = taken.known }
        (candidates, unreadCount) = ([], 0)
        if candidateTexts.count > Findings.mostRemembered { candidateTexts = [] }
        return taken
    }

    package func add(_ findings: Findings) {
        unreadCount += findings.unreadCount
        for (kind, number) in findings.earlier { book.add(earlier: Placeholder(kind: kind, number: number)) }
        for (found, host, isSought) in findings.secrets {
            book.note(found.secret, found.kind, name: found.name, host: host, isSought: isSought)
        }
        for (suspect, text) in findings.suspects { add(suspect, text) }
    }

    func add(earlier placeholder: Placeholder) {
        guard findings != nil else { return book.add(earlier: placeholder) }
        let known = findings?.earlier[placeholder.kind, default: 0] ?? 0
        if placeholder.number > known { findings?.earlier[placeholder.kind] = placeholder.number }
    }

    package struct Findings: Sendable {
        static let mostRemembered = 16_384

        var secrets: [(secret: FoundSecret, host: String, isSought: Bool)] = []
        var suspects: [(suspect: TextMask.Suspect, text: [UInt8])] = []
        var unreadCount = 0
        var earlier: [SecretKind: Int] = [:]
        /// Recent secrets and whether they are sought elsewhere: each is handed over once.
        fileprivate var known: [[UInt8]: Bool] = [:]

        mutating func add(_ found: FoundSecret, _ host: String, _ isSought: Bool) {
            // The book has no space for more.
            guard secrets.count <= 2 * SecretBook.most else { return }
            if let wasSought = known[found.secret], wasSought || !isSought { return }
            known[found.secret] = isSought
            secrets.append((found, host, isSought))
        }
    }
}
