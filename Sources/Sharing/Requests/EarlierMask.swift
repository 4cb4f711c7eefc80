import HTTPModel
import Masking

/// Placeholders that stand for secrets which an export before this one masked: nobody here knows them, so they have no
/// variables.
enum EarlierMask {
    /// As many are named.
    private static let most = 10

    /// Says of such placeholders in a command what they are; `nil` where there are none.
    static func remark(on bytes: [UInt8], _ source: any ExchangeSource) -> String? {
        let known = (source as? MaskedSource)?.mask.book.placeholders(in: bytes).map(\.placeholder) ?? []
        let found = placeholders(in: bytes, besides: known)
        guard let first = found.first else { return nil }
        return found.count == 1
            ? "\(first) stands for a secret that was masked before; put it in"
            : "\(found.joined(separator: ", ")) stand for secrets that were masked before; put them in"
    }

    /// The texts of placeholders in bytes that are not known, each once.
    private static func placeholders(in bytes: [UInt8], besides known: [Placeholder]) -> [String] {
        var found: [String] = []
        let prefix = Array("sluice-".utf8)
        var place = bytes.startIndex
        while found.count < most, let start = bytes[place...].firstIndex(of: prefix[0]) {
            place = start + 1
            guard bytes[start...].starts(with: prefix) else { continue }
            let rest = bytes[(start + prefix.count)...]
            for kind in SecretKind.allCases where rest.starts(with: kind.rawValue.utf8 + [UInt8(ascii: "-")]) {
                let digits = rest.dropFirst(kind.rawValue.utf8.count + 1).prefix { $0 &- 0x30 < 10 }.prefix(9)
                guard let number = Int(String(decoding: digits, as: UTF8.self)) else { continue }
                let text = "sluice-\(kind.rawValue)-\(number)"
                let isKnown = known.contains { $0.kind == kind && $0.number == number }
                if !isKnown, !found.contains(text) { found.append(text) }
                break
            }
        }
        return found
    }
}
