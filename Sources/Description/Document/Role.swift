/// What a text means; the theme decides how it looks. A word or character always shows the meaning, too.
package enum Role: UInt8, Sendable, Hashable, CaseIterable {
    case text
    /// Less important text: remarks, unchanged values.
    case faint
    case heading
    /// The name of a fact, left of it.
    case label
    /// The name of a member, field, parameter or cookie.
    case key
    /// A literal is a word with a fixed meaning: `true`, `false`, `null`.
    case string, number, literal
    /// Brackets, commas and other separators.
    case punctuation
    /// The name of a markup element and of its attribute, or a style sheet's selector and property.
    case tag, attribute
    case comment, keyword, link
    /// Outcomes: 2xx, 3xx, 4xx, 5xx and others.
    case success, redirect, clientError, serverError, failure
    case warning
    /// Only in the newer version, only in the older version, or different.
    case added, removed, changed
    case match
    /// An upper and a lower pixel, drawn as a half block.
    case image
}
