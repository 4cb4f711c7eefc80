package import HTTPModel

/// The rules that were in force from a moment on, complete enough to compile them again.
package struct StoredRules: Sendable, Hashable {
    /// Counts the rule sets of a session, from 1.
    package var number: Int64
    package var at: Int64
    /// The profile's files in the order of reading, with included ones; empty without a profile.
    package var sources: [ProfileSource]
    /// Sorted names of tools.
    package var switchedOff: [String]
}

/// A set of rules before it has its number in the file.
struct RulesNote: Sendable {
    var at: Int64
    var sources: [ProfileSource]
    var switchedOff: [String]
    /// Which exchanges are recorded; `nil` for all.
    var admits: (@Sendable (RequestURL) -> Bool)?

    /// The credit of the recorder that it uses, in bytes.
    var cost: Int { sources.reduce(512) { $0 + $1.file.utf8.count + $1.text.utf8.count } }
}
