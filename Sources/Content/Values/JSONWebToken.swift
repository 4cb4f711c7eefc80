import Text

/// A JSON web token (RFC 7519) as found in fields, cookies and JSON. Its signature is not checked.
package struct JSONWebToken: Sendable {
    /// Longer texts are ignored.
    private static let longest = 64 * 1024

    private let head: JSONTree
    private let claims: JSONTree?

    package var header: [UInt8] { head.bytes }
    /// `nil` if it is encrypted (RFC 7516).
    package var payload: [UInt8]? { claims?.bytes }

    package init?(_ text: some StringProtocol) {
        // Nearly every header begins with `{"` or `{ `, and both begin with `ey` in base64url.
        guard text.utf8.count <= JSONWebToken.longest, text.hasPrefix("ey") else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        func tree(_ part: Int) -> JSONTree? { Base64Text.decode(parts[part]).flatMap { try? JSONTree($0) } }
        guard parts.count == 3 || parts.count == 5, let head = tree(0), head.member("alg", of: 0) != nil else {
            return nil
        }
        self.head = head
        claims = parts.count == 3 ? tree(1) : nil
        if parts.count == 3, claims == nil { return nil }
    }

    /// The token in the value of `Authorization` or a similar field: the last word.
    package static func found(in value: String) -> JSONWebToken? {
        value.split(separator: " ").last.flatMap { JSONWebToken($0) }
    }

    package var algorithm: String? { JSONWebToken.text("alg", head) }
    package var subject: String? { claims.flatMap { JSONWebToken.text("sub", $0) } }

    /// A time in the payload (`exp`, `iat`, `nbf`), in microseconds since 1970.
    package func moment(_ name: String) -> Int64? {
        guard let claims, let node = claims.member(name, of: 0) else { return nil }
        return EpochTime(claims.text(of: node), unit: .seconds)?.microseconds
    }

    private static func text(_ name: String, _ tree: JSONTree) -> String? {
        tree.member(name, of: 0).map { tree.string(of: $0) ?? tree.text(of: $0) }
    }
}
