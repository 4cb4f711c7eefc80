/// What a text means; the theme decides how it looks. It is never the only carrier of a meaning: there is a word or
/// sign, too.
package enum Role: UInt8, Sendable, Hashable, CaseIterable {
    case text
    /// Text of less weight: remarks, what stayed the same.
    case faint
    case heading
    /// The name of a fact, left of it.
    case label
    /// The name of a member, field, parameter or cookie.
    case key
    case string, number
    /// A word with a fixed meaning: `true`, `false`, `null`.
    case literal
    /// Brackets, commas, signs between other things.
    case punctuation
    /// The name of a markup element, or a style sheet's selector.
    case tag
    /// The name of a markup attribute, or a style sheet's property.
    case attribute
    case comment
    case keyword
    case link
    case success
    /// An outcome that leads elsewhere (3xx).
    case redirect
    /// An outcome that is the client's fault (4xx).
    case clientError
    /// An outcome that is the server's fault (5xx).
    case serverError
    case failure
    case warning
    /// What is only in the newer of two.
    case added
    /// What is only in the older of two.
    case removed
    /// What differs between two.
    case changed
    case match
    /// Two pixels above each other, drawn as a half block.
    case image
}
