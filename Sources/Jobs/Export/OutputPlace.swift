import Recording

/// Keeps what a command reads from being replaced by what it writes.
package enum OutputPlace {
    /// Refuses to write into the session or the archive that is read, by whatever name or link, and over another session.
    /// Standard output is `nil` and `-`.
    package static func check(_ path: String?, reading source: String) throws(StartError) {
        try check(path, reading: source, calling: SessionFiles.isSession(source) ? "the session" : "the archive")
        guard let path else { return }
        if SessionFiles.isCompanion(path, of: source) { throw refusal("\(path) belongs to the session \(source).") }
        if path != "-", SessionFiles.isSession(path) {
            throw refusal("\(path) is another session, which would be lost.")
        }
    }

    /// Refuses to write into a file that is read, and an empty name; `what` it is follows its name: `the profile`.
    package static func check(_ path: String?, reading source: String, calling what: String) throws(StartError) {
        if path?.isEmpty == true { throw refusal("The name of the file to write is empty.") }
        if SessionFiles.isSame(path, as: source) {
            throw refusal("\(path.flatMap { $0 == "-" ? nil : $0 } ?? "Standard output") is \(what) itself.")
        }
    }

    private static func refusal(_ message: String) -> StartError {
        StartError(message, hint: "Name another file.", isUsage: true)
    }
}
