import Text

/// A JSON web token (RFC 7519) as it stands in fields, cookies and JSON. Its signature is not checked.
package struct JSONWebToken: Sendable {
    /// Longer texts are ignored.
    private static let longest = 64 * 1024

    package let header: [UInt8]
    /// `nil` if it is encrypted (RFC 7516).
    package let payload: [UInt8]?

    package init?(_ text: some StringProtocol) {
        // Any header begins with `{"`, which is `eyJ` in base64url.
        guard text.utf8.count <= JSONWebToken.longest, text.hasPrefix("ey") else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 5, let header = Base64Text.decode(parts[0]),
            let tree = try? JSONTree(header), tree.member("alg", of: 0) != nil
        else { return nil }
        self.header = header
        guard parts.count == 3 else {
            payload = nil
            return
        }
        guard let payload = Base64Text.decode(parts[1]), (try? JSONTree(payload)) != nil else { return nil }
        self.payload = payload
    }

    /// The token in the value of `Authorization` and the like: the last word.
    package static func found(in value: String) -> JSONWebToken? {
        value.split(separator: " ").last.flatMap { JSONWebToken($0) }
    }

    package var algorithm: String? { JSONWebToken.text("alg", header) }
    package var subject: String? { payload.flatMap { JSONWebToken.text("sub", $0) } }

    /// A moment of the payload (`exp`, `iat`, `nbf`) in microseconds since 1970.
    package func moment(_ name: String) -> Int64? {
        guard let payload, let tree = try? JSONTree(payload), let node = tree.member(name, of: 0) else { return nil }
        return EpochTime(tree.text(of: node), unit: .seconds)?.microseconds
    }

    private static func text(_ name: String, _ bytes: [UInt8]) -> String? {
        guard let tree = try? JSONTree(bytes), let node = tree.member(name, of: 0) else { return nil }
        return tree.string(of: node) ?? tree.text(of: node)
    }
}
