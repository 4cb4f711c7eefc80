package import HTTPModel

/// The rules that were in force from a moment on, as a session keeps them: enough to read and compile them again.
package struct StoredRules: Sendable, Hashable {
    /// Counts the sets of a session, from 1.
    package var number: Int64
    /// Since when they were in force: microseconds since 1970.
    package var at: Int64
    /// The profile's files in the order in which they were read, included ones too; none where there was no profile.
    package var sources: [ProfileSource]
    /// The names of the tools that were switched off, sorted.
    package var switchedOff: [String]

    package init(number: Int64, at: Int64, sources: [ProfileSource], switchedOff: [String]) {
        self.number = number
        self.at = at
        self.sources = sources
        self.switchedOff = switchedOff
    }
}

/// A set of rules on its way to the file, where it gets its number.
struct RulesNote: Sendable {
    var at: Int64
    var sources: [ProfileSource]
    var switchedOff: [String]
    /// Which exchanges are recorded; `nil` for all.
    var admits: (@Sendable (RequestURL) -> Bool)?

    /// What it holds of the recorder's credit, in bytes.
    var cost: Int { sources.reduce(512) { $0 + $1.file.utf8.count + $1.text.utf8.count } }
}
