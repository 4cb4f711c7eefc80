/// `mask:` of a profile.
package struct MaskRules: Sendable, Hashable {
    package enum Pattern: String, CaseIterable, Sendable {
        case email
        case card
    }

    /// Further names of secrets; `*` at the beginning is a wildcard.
    package var also: [String] = []
    /// Names of ordinary values; `*` as in ``also``.
    package var except: [String] = []
    package var patterns: Set<Pattern> = []
    /// Values to mask wherever they are.
    package var secrets: [String] = []

    package init() {}

    /// In bytes.
    package static let longestName = 80

    /// Only ASCII letters and digits are compared.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName && text.utf8.contains { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 }
            && !text.dropFirst().contains("*")
    }
}
