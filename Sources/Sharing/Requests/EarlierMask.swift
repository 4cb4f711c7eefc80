import HTTPModel
import Masking

/// Placeholders that were recorded. An export before this one masked secrets there, which nobody here knows, or somebody wrote
/// what looks like it; so they have no variables.
enum EarlierMask {
    /// As many are named.
    private static let most = 10

    /// Says of a body that was masked whole that it was; `nil` for others, and where a command does not send it.
    static func remark(onBody body: [UInt8], _ source: any ExchangeSource) -> String? {
        source is MaskedSource || !MaskedWhole.isSentence(body) ? nil : "the body was masked whole before; put it in"
    }

    /// Says of such placeholders in a command what they are; `nil` where there are none.
    static func remark(on bytes: [UInt8]) -> String? {
        let found = Placeholder.all(in: bytes, most: most).map(\.text)
        guard let first = found.first else { return nil }
        return found.count == 1
            ? "\(first) was recorded as it stands here: where an earlier export masked a secret, put it in"
            : "\(found.joined(separator: ", ")) were recorded as they stand here: where an earlier export masked secrets, put them in"
    }
}
