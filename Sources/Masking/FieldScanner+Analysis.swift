/// Tokens that are pieces of a text, as models of language and search engines have them.
extension FieldScanner {
    /// What stands beside a piece of a text.
    private static let companions: [StaticString] = [
        "logprob", "logprobs", "start_offset", "end_offset", "token_id",
    ]
    private static let lookedAt = 160

    /// Whether a value named `token` is a piece of a text: its object says how likely it is, or where it stands.
    func isOfAnalysis(_ value: Range<Int>, _ name: Range<Int>) -> Bool {
        let text = UnsafeRawBufferPointer(rebasing: bytes[value])
        guard text.count <= 40, !ValueShape.isMadeByChance(text, least: 16) else { return false }
        let after = bytes[value.upperBound...].prefix(FieldScanner.lookedAt)
        let end = after.firstIndex { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "{") } ?? after.endIndex
        let before = bytes[..<name.lowerBound].suffix(FieldScanner.lookedAt)
        let start = before.lastIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? before.startIndex
        return hasNumber(value.upperBound..<end) || hasNumber(start..<name.lowerBound)
    }

    /// Whether a member among some tells of a piece of a text: `"logprob": -0.31`, `"start_offset": 4`.
    private func hasNumber(_ members: Range<Int>) -> Bool {
        bytes[members].indices.contains { place in
            guard bytes[place] == UInt8(ascii: ":"), place > members.lowerBound else { return false }
            var end = place
            while end > members.lowerBound, "\"\\ ".utf8.contains(bytes[end - 1]) { end -= 1 }
            return FieldScanner.companions.contains { has($0, endingAt: end) }
        }
    }
}
