import HTTPModel
package import Jobs
package import Recording

/// A session whose exchanges can be deleted, commented and coloured.
package protocol SessionEdits: Sendable {
    /// Returns when readers see the edit. Throws ``ControlError``.
    func edit(_ edit: SessionEdit) async throws -> SessionEditResult
}

extension ExchangeNote {
    /// An empty text removes the comment. Throws ``ControlError`` if the text is too long.
    package init(comment: String) throws {
        guard comment.utf8.count <= ExchangeAnnotation.longestComment else {
            throw ControlError("A comment has at most \(ExchangeAnnotation.longestComment) bytes.")
        }
        self = .comment(comment.isEmpty ? nil : comment)
    }

    /// `none` or an empty name removes the colour. Throws ``ControlError`` for an unknown colour.
    package init(colour: String) throws {
        let name = colour.lowercased()
        guard name.isEmpty || name == "none" || ExchangeAnnotation.Colour(rawValue: name) != nil else {
            let names = ExchangeAnnotation.Colour.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError("There is no colour '\(colour.prefix(40))'.", hint: "There are: \(names), none.")
        }
        self = .colour(ExchangeAnnotation.Colour(rawValue: name))
    }
}

/// Edits a session file. The file stays open for writing after the first edit, so that deletions can be undone.
package actor RecordedSessionEdits: SessionEdits {
    private let path: String
    private var editor: SessionEditor?
    private var isImporting = false

    package init(path: String) { self.path = path }

    package func edit(_ edit: SessionEdit) async throws -> SessionEditResult {
        guard !isImporting else {
            throw ControlError("Exchanges are being imported into \(path).", hint: "Wait for the end, or stop it.")
        }
        do {
            let editor = try self.editor ?? SessionEditor(path: path)
            self.editor = editor
            return try editor.edit(edit)
        } catch let error as SessionError where error.code == .locked {
            throw ControlError("\(path) is in use by another Sluice.", hint: "Change it there: sluice attach.")
        } catch let error as SessionError {
            throw ControlError(error.message, hint: error.hint)
        }
    }

    /// Closes the file for an import. Throws ``ControlError`` if there are deletions: closing ends their undo.
    private func release() throws {
        guard let editor else { return }
        guard !editor.hasDeletions else {
            throw ControlError("An import ends the undo of deletions.", hint: "Restore deleted exchanges first.")
        }
        self.editor = nil
        try editor.close()
    }

    /// Removes deleted exchanges for good, and closes the file. Throws ``SessionError`` if that fails.
    package func close() throws {
        defer { editor = nil }
        try editor?.close()
    }
}

extension RecordedSessionEdits: SessionImports {
    package func importExchanges(
        of file: String,
        progress: @escaping @Sendable (Double) -> Bool
    ) async throws -> ImportOutcome {
        guard !isImporting else { throw ControlError("An import into \(path) is under way.") }
        isImporting = true
        defer { isImporting = false }
        try release()
        return try await OwnThread.run { [path] in
            var configuration = RecorderConfiguration(path: path, sluiceVersion: SluiceVersion.current)
            configuration.isTraffic = false
            let recorder = try Recorder(configuration)
            defer { recorder.close() }
            let outcome = try SessionImport(recorder: recorder).run(file, progress)
            if let error = recorder.close().error { throw error }
            return outcome
        }
    }
}
