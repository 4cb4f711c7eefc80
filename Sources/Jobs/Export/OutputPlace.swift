import Recording

/// Keeps a command from overwriting its input.
package enum OutputPlace {
    /// Refuses the session or archive that is read, and any other session. `nil` or `-` is standard output.
    package static func check(_ path: String?, reading source: String) throws(StartError) {
        try check(path, reading: source, calling: SessionFiles.isSession(source) ? "the session" : "the archive")
        guard let path else { return }
        if SessionFiles.isCompanion(path, of: source) { throw refusal("\(path) belongs to the session \(source).") }
        if path != "-", SessionFiles.isSession(path) {
            throw refusal("\(path) is another session, which would be lost.")
        }
    }

    /// Refuses the file that is read, and an empty name; `what` is for example `the profile`.
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
