package import HTTPModel

/// What an export says of the session: who recorded it, when and by which rules. It is not masked when it is written.
package struct SessionFacts: Sendable {
    /// One time that the session was recorded into.
    package struct Run: Sendable {
        package var sluiceVersion: String
        /// When it began: microseconds since 1970.
        package var startedAt: Int64
        /// When it ended: microseconds since 1970; `nil` while it goes on, or where it ended without a word.
        package var endedAt: Int64?

        package init(sluiceVersion: String, startedAt: Int64, endedAt: Int64?) {
            (self.sluiceVersion, self.startedAt, self.endedAt) = (sluiceVersion, startedAt, endedAt)
        }
    }

    /// The rules that were in force from a moment on.
    package struct Rules: Sendable {
        /// Since when: microseconds since 1970.
        package var at: Int64
        /// The profile's files; none where there was no profile. Exports mask their texts.
        package var sources: [ProfileSource]
        package var switchedOff: [String]

        package init(at: Int64, sources: [ProfileSource], switchedOff: [String]) {
            (self.at, self.sources, self.switchedOff) = (at, sources, switchedOff)
        }
    }

    /// What the user calls the export; `nil` if it has the session's name.
    package var title: String?
    package var note: String?
    /// The session's name, without a path.
    package var name: String
    package var version: String
    package var system: String
    package var labels: [String: String] = [:]
    /// First run first.
    package var runs: [Run] = []
    /// All sets of rules, in the order in which they came.
    package var rules: [Rules] = []
    /// What the rules of a stage change without their trace naming it, by the stage's name.
    package var changes: [String: TraceEntry.Change] = [:]

    package init(name: String = "", version: String = "", system: String = "") {
        (self.name, self.version, self.system) = (name, version, system)
    }
}
