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

        var count: Int { secrets.count + suspects.count }

        mutating func add(_ found: FoundSecret, _ host: String, _ isSought: Bool) {
            // With so many the book is full, and knows that it is.
            guard secrets.count <= 2 * SecretBook.most else { return }
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
