package import Wire

/// The lines `user:hash` of a file.
package struct ProxyUsers: Sendable, Hashable {
    package private(set) var names: [String] = []
    private var hashes: [[UInt8]: PasswordHash] = [:]

    /// The most bytes of a name or password; SOCKS allows no more (RFC 1929).
    package static let longest = 255

    package init() {}

    /// Lines with `#` are comments.
    package init(_ text: String) throws(ProxyUsersError) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let first = line.first { $0 != " " && $0 != "\t" }
            guard let first, first != "#" else { continue }
            guard let colon = line.firstIndex(of: ":") else {
                throw ProxyUsersError(line: index + 1, reason: "the ':' between user and hash is missing")
            }
            let user = String(line[..<colon])
            if let reason = ProxyUsers.fault(ofUser: user) { throw ProxyUsersError(line: index + 1, reason: reason) }
            guard hashes[Array(user.utf8)] == nil else {
                throw ProxyUsersError(line: index + 1, reason: "the user '\(user)' appears twice")
            }
            do throws(PasswordHash.ReadingError) {
                set(try PasswordHash(line[line.index(after: colon)...]), for: user)
            } catch {
                let reason = "the text after ':' is not a hash of a password: \(error)"
                throw ProxyUsersError(line: index + 1, reason: reason)
            }
        }
    }

    package static func fault(ofUser user: String) -> String? {
        if user.isEmpty { return "the user has no name" }
        if user.utf8.count > longest { return "the user's name is longer than \(longest) bytes" }
        let isPlain = user.unicodeScalars.allSatisfy {
            $0 != ":" && $0.value > 0x20 && !(0x7F...0x9F).contains($0.value)
        }
        return isPlain ? nil : "a user's name cannot have ':', spaces or control characters"
    }

    package mutating func set(_ hash: PasswordHash, for user: String) {
        if hashes.updateValue(hash, forKey: Array(user.utf8)) == nil { names.append(user) }
    }

    package mutating func remove(_ user: String) -> Bool {
        names.removeAll { $0 == user }
        return hashes.removeValue(forKey: Array(user.utf8)) != nil
    }

    package var text: String { names.map { "\($0):\(hashes[Array($0.utf8)]?.description ?? "")\n" }.joined() }

    func hash(ofUser user: [UInt8]) -> PasswordHash? { hashes[user] }

    /// A known user's hash to check in place of an unknown user's, so that the time does not reveal which users exist.
    func hash(insteadOf user: [UInt8]) -> PasswordHash? {
        guard !names.isEmpty else { return nil }
        let place = Int(UInt(bitPattern: user.hashValue) % UInt(names.count))
        return hashes[Array(names[place].utf8)]
    }
}

package struct ProxyUsersError: Error, Sendable, Hashable, CustomStringConvertible {
    package let line: Int
    package let reason: String

    package init(line: Int, reason: String) {
        self.line = line
        self.reason = reason
    }

    package var description: String { "line \(line): \(reason)" }
}
