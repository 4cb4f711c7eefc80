/// Names that mean something else beside others: tokens that are pieces of a text, as models of language, search engines and themes
/// of editors have them, and statements of policies.
extension FieldScanner {
    /// What stands beside a piece of a text.
    private static let companions: [StaticString] = [
        "logprob", "logprobs", "start_offset", "end_offset", "token_id", "foreground", "fontStyle",
    ]
    private static let lookedAt = 160

    /// Whether a value named `token` is a piece of a text: its object says how likely it is, or where it stands.
    func isOfAnalysis(_ value: Range<Int>, _ name: Range<Int>) -> Bool {
        let text = UnsafeRawBufferPointer(rebasing: bytes[value])
        guard text.count <= 40, !ValueShape.isMadeByChance(text, least: 16) else { return false }
        return isBeside(FieldScanner.companions, value, name)
    }

    /// Whether a value named `Sid` names a statement of a policy of AWS.
    func isOfPolicy(_ value: Range<Int>, _ name: Range<Int>) -> Bool { isBeside(["Effect"], value, name) }

    /// Whether one of some members stands in the same object: `"logprob": -0.31`, `"start_offset": 4`.
    private func isBeside(_ companions: [StaticString], _ value: Range<Int>, _ name: Range<Int>) -> Bool {
        let after = bytes[value.upperBound...].prefix(FieldScanner.lookedAt)
        let end = after.firstIndex { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "{") } ?? after.endIndex
        let before = bytes[..<name.lowerBound].suffix(FieldScanner.lookedAt)
        let start = before.lastIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? before.startIndex
        return hasMember(companions, value.upperBound..<end) || hasMember(companions, start..<name.lowerBound)
    }

    private func hasMember(_ companions: [StaticString], _ members: Range<Int>) -> Bool {
        bytes[members].indices.contains { place in
            guard bytes[place] == UInt8(ascii: ":"), place > members.lowerBound else { return false }
            var end = place
            while end > members.lowerBound, "\"\\ ".utf8.contains(bytes[end - 1]) { end -= 1 }
            return companions.contains { has($0, endingAt: end) }
        }
    }
}
