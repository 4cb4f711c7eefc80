package import HTTPModel

package struct StoredRules: Sendable, Hashable {
    /// From 1 in each session.
    package var number: Int64
    package var at: Int64
    /// In the order in which they were read, with included files.
    package var sources: [ProfileSource]
    /// Sorted names of tools.
    package var switchedOff: [String]
}

struct RulesNote: Sendable {
    var at: Int64
    var sources: [ProfileSource]
    var switchedOff: [String]
    var admits: (@Sendable (RequestURL) -> Bool)?

    /// In bytes of the recorder's credit.
    var cost: Int { sources.reduce(512) { $0 + $1.file.utf8.count + $1.text.utf8.count } }
}
