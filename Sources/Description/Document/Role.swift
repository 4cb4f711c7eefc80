/// What a text means; the theme decides how it looks. A word or sign always carries the meaning, too.
package enum Role: UInt8, Sendable, Hashable, CaseIterable {
    case text
    /// Text of less weight: remarks, what stayed the same.
    case faint
    case heading
    /// The name of a fact, left of it.
    case label
    /// The name of a member, field, parameter or cookie.
    case key
    /// A literal is a word with a fixed meaning: `true`, `false`, `null`.
    case string, number, literal
    /// Brackets, commas, signs between other things.
    case punctuation
    /// The name of a markup element and of its attribute, or a style sheet's selector and property.
    case tag, attribute
    case comment, keyword, link
    /// Outcomes: 2xx, 3xx, 4xx, 5xx and others.
    case success, redirect, clientError, serverError, failure
    case warning
    /// What is only in the newer of two, only in the older one, or differs.
    case added, removed, changed
    case match
    /// Two pixels above each other, drawn as a half block.
    case image
}
