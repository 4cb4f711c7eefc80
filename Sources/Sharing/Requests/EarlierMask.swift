import HTTPModel
import Masking

/// Placeholders that stand for secrets which an export before this one masked: nobody here knows them, so they have no
/// variables.
enum EarlierMask {
    /// As many are named.
    private static let most = 10

    /// Says of a body that was masked whole that it was; `nil` for others, and where a command does not send it.
    static func remark(onBody body: [UInt8], _ source: any ExchangeSource) -> String? {
        source is MaskedSource || !MaskedWhole.isSentence(body) ? nil : "the body was masked whole before; put it in"
    }

    /// Says of such placeholders in a command what they are; `nil` where there are none.
    static func remark(on bytes: [UInt8], _ source: any ExchangeSource) -> String? {
        let known = (source as? MaskedSource)?.mask.book.placeholders(in: bytes).map(\.placeholder.ofSecret) ?? []
        let found = Placeholder.all(in: bytes, most: most, besides: Set(known)).map(\.text)
        guard let first = found.first else { return nil }
        return found.count == 1
            ? "\(first) stands for a secret that was masked before; put it in"
            : "\(found.joined(separator: ", ")) stand for secrets that were masked before; put them in"
    }
}
