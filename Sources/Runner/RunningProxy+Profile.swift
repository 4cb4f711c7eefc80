package import Stages

/// The profile of a running proxy: looked at, edited, saved.
extension RunningProxy {
    /// Puts texts in force without writing them to their files; files that are not named stay as they are.
    ///
    /// Relative paths in a text begin beside its file; those of a profile that is not saved yet, and whose name has no
    /// directory, in the working directory. What begins from then on has the new rules; what is under way keeps its own.
    ///
    /// - Parameter texts: the texts and their files; one that is not of the profile yet becomes its last.
    /// - Returns: what has changed.
    /// - Throws: `ProfileError` with what is wrong; the rules stay as they were then.
    package func apply(_ texts: [ProfileSource]) async throws -> RulesDifference {
        let difference = try await rules.apply(texts)
        await watchProfile()
        return difference
    }

    /// Writes texts that are in force to their files, each whole or not at all.
    ///
    /// - Parameters:
    ///   - files: the files; `nil` for all that are not saved.
    ///   - isForced: whether files are overwritten that others have changed meanwhile.
    /// - Returns: the files that were written.
    /// - Throws: ``ControlFailure`` where a file cannot be written, or was changed meanwhile.
    package func save(_ files: [String]? = nil, isForced: Bool = false) async throws(ControlFailure) -> [String] {
        let saved = try await rules.save(files, isForced: isForced)
        await watchProfile()
        return saved
    }

    /// Reads the profile's files again and puts what they say in force.
    ///
    /// - Parameter discardsEdits: whether texts that are not saved are thrown away.
    /// - Returns: what has changed.
    /// - Throws: ``ControlFailure`` where there are texts that are not saved, and `ProfileError` with what is wrong; the
    ///   rules stay as they were then.
    package func reloadProfile(discardsEdits: Bool = false) async throws -> RulesDifference {
        let (before, after) = try await rules.reload(discardsEdits: discardsEdits)
        await watchProfile()
        return RulesDifference(before: before, after: after)
    }
}
