package import HTTPModel

/// Facts about the session in an export: who recorded it, when and by which rules. Writing does not mask the facts.
package struct SessionFacts: Sendable {
    /// One recording, with microseconds since 1970; `endedAt` is `nil` while it continues, or if it crashed.
    package typealias Run = (sluiceVersion: String, startedAt: Int64, endedAt: Int64?)
    /// The rules that applied from a moment on, in microseconds since 1970. The caller masks their sources.
    package typealias Rules = (at: Int64, sources: [ProfileSource], switchedOff: [String])

    /// What the user calls the export; `nil` if it has the session's name.
    package var title: String?
    package var note: String?
    package var name: String
    package var version: String
    package var system: String
    package var labels: [String: String] = [:]
    package var runs: [Run] = []
    package var rules: [Rules] = []
    /// For each tool, by its name: the kind of change that its rules make if their trace does not say it.
    package var changes: [String: TraceEntry.Change] = [:]

    package init(name: String = "", version: String = "", system: String = "") {
        (self.name, self.version, self.system) = (name, version, system)
    }
}
