/// What a mask on another thread finds, and who takes it over.
extension TextMask {
    /// How many findings a mask for another thread has.
    package var findingCount: Int { (findings?.count ?? 0) + candidates.count }

    /// What a mask for another thread has found since it was asked last.
    package func takeFindings() -> Findings {
        var taken = findings ?? Findings()
        taken.suspects = candidates
        taken.unreadCount = unreadCount
        (findings, candidates, unreadCount) = (Findings(), [], 0)
        if candidateDigests.count > TextMask.mostRemembered { candidateDigests = [] }
        return taken
    }

    /// Takes over what a copy of this mask has found, as though it had found it here.
    package func add(_ findings: Findings) {
        unreadCount += findings.unreadCount
        for (kind, number) in findings.earlier { book.add(earlier: Placeholder(kind: kind, number: number)) }
        for secret in findings.secrets {
            book.note(
                secret.bytes,
                secret.kind,
                name: secret.name,
                host: secret.host,
                isSought: secret.isSought,
                other: secret.other
            )
        }
        for candidate in findings.suspects
        where candidates.count < TextMask.mostSuspects && candidateDigests.insert(candidate.digest).inserted {
            candidates.append(candidate)
        }
    }

    func add(earlier placeholder: Placeholder) {
        guard findings != nil else { return book.add(earlier: placeholder) }
        let known = findings?.earlier[placeholder.kind, default: 0] ?? 0
        if placeholder.number > known { findings?.earlier[placeholder.kind] = placeholder.number }
    }

    private static let mostRemembered = 4 * mostSuspects

    /// What a mask for another thread has found.
    package struct Findings: Sendable {
        struct Secret: Sendable {
            var bytes: [UInt8]
            var kind: SecretKind
            var name: String
            var host: String
            var isSought: Bool
            var other: [UInt8]?
        }

        var secrets: [Secret] = []
        var suspects: [Candidate] = []
        var unreadCount = 0
        /// The highest numbers of placeholders that an earlier export gave.
        var earlier: [SecretKind: Int] = [:]
        /// The digests of the secrets, of which each is taken once.
        private var digests: Set<Int> = []

        var count: Int { secrets.count + suspects.count }

        mutating func add(_ found: FoundSecret, _ host: String, _ isSought: Bool) {
            let whole = found.other.map { found.secret + [0] + $0 } ?? found.secret
            let digest = NeedleTable.digest(whole)
            // With so many the book is full, and knows that it is.
            guard secrets.count <= 2 * SecretBook.most, digests.insert(isSought ? digest : ~digest).inserted else {
                return
            }
            secrets.append(
                Secret(
                    bytes: found.secret,
                    kind: found.kind,
                    name: found.name,
                    host: host,
                    isSought: isSought,
                    other: found.other
                )
            )
        }
    }
}
