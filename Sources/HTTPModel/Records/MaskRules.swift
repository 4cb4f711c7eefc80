/// What is masked in exports: `mask:` of a profile.
package struct MaskRules: Sendable, Hashable {
    /// What is masked by its look, by choice.
    package enum Pattern: String, CaseIterable, Sendable {
        /// Addresses of e-mail.
        case email
        /// Numbers of payment cards.
        case card
    }

    /// Names of fields, parameters, cookies and elements whose values are secrets too; `*` at the beginning stands for
    /// anything.
    package var also: [String] = []
    /// Names whose values stay; `*` as in ``also``.
    package var except: [String] = []
    package var patterns: Set<Pattern> = []

    package init() {}

    /// The longest name that is compared whole, in bytes.
    package static let longestName = 80

    /// Whether a text can be a name of ``also`` or ``except``: only letters and digits of ASCII are compared.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName && text.utf8.contains { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 }
            && !text.dropFirst().contains("*")
    }
}
