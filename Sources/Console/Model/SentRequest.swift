/// A request that was written or edited here and sent.
struct SentRequest: Sendable, Hashable {
    /// The most that are kept, and the longest text of one, in bytes.
    static let most = 50
    static let longest = 1 << 20

    var purpose: EditorState.Purpose
    var text: String

    /// Its first line without the version: `POST https://api.example.com/login`.
    var title: String {
        let line = text.prefix { !$0.isNewline }
        return line.hasSuffix(" HTTP/1.1") ? String(line.dropLast(9)) : String(line)
    }
}
