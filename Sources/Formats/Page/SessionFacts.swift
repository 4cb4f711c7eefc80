package import HTTPModel

/// What an export says of the session: who recorded it, when and by which rules. It is not masked when it is written.
package struct SessionFacts: Sendable {
    /// One recording, with microseconds since 1970; without an end while it goes on, or if it crashed.
    package typealias Run = (sluiceVersion: String, startedAt: Int64, endedAt: Int64?)
    /// The rules that were in force from a moment on, in microseconds since 1970. Exports mask their sources.
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
    /// For each stage, by its name: what its rules change although their trace does not say so.
    package var changes: [String: TraceEntry.Change] = [:]

    package init(name: String = "", version: String = "", system: String = "") {
        (self.name, self.version, self.system) = (name, version, system)
    }
}
