import HTTPModel
package import Jobs
package import Recording
import Synchronization

/// A session whose exchanges can be deleted, commented and coloured: one that is being recorded, or one that was.
package protocol SessionEdits: Sendable {
    /// Makes an edit, and returns once readers see it. Throws ``ControlError``.
    func edit(_ edit: SessionEdit) async throws -> SessionEditResult
}

extension ExchangeNote {
    /// A comment as a user gives it; an empty one removes it. Throws ``ControlError`` for one that is too long.
    package init(comment: String) throws {
        guard comment.utf8.count <= ExchangeAnnotation.longestComment else {
            throw ControlError("A comment has at most \(ExchangeAnnotation.longestComment) bytes.")
        }
        self = .comment(comment.isEmpty ? nil : comment)
    }

    /// A colour as a user gives it; `none` or an empty name removes it. Throws ``ControlError`` for an unknown one.
    package init(colour: String) throws {
        let name = colour.lowercased()
        guard name.isEmpty || name == "none" || ExchangeAnnotation.Colour(rawValue: name) != nil else {
            let names = ExchangeAnnotation.Colour.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError("There is no colour '\(colour.prefix(40))'.", hint: "There are: \(names), none.")
        }
        self = .colour(ExchangeAnnotation.Colour(rawValue: name))
    }
}

extension ControlReply {
    init(_ result: SessionEditResult) {
        self.init(changed: Changed(exchanges: result.changed, inFlight: result.inFlight, mark: result.mark))
    }

    var result: SessionEditResult? {
        changed.map { changed in
            var result = SessionEditResult()
            (result.changed, result.inFlight, result.mark) = (changed.exchanges, changed.inFlight, changed.mark)
            return result
        }
    }
}

/// Edits a recorded session file. It is opened for writing by the first edit, and held until the end, so that what was
/// deleted can be brought back until then.
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
            throw ControlError(
                "\(path) is in use by another Sluice, which alone may change it.",
                hint: "If it records, change it there: sluice attach."
            )
        } catch let error as SessionError {
            throw ControlError(error.message, hint: error.hint)
        }
    }

    /// Stops holding the file, so that exchanges can be written into it. Throws ``ControlError`` where a deletion could no
    /// longer be taken back then.
    private func release() throws {
        guard let editor else { return }
        guard !editor.hasDeletions else {
            throw ControlError(
                "What was deleted here could no longer be brought back after an import.",
                hint: "Bring it back, or close the session and open it again."
            )
        }
        self.editor = nil
        try editor.close()
    }

    /// Removes what was deleted. Throws ``SessionError`` where it stays marked.
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
        return try await SessionImport.onOwnThread { [path] in
            var configuration = RecorderConfiguration(path: path, sluiceVersion: SluiceVersion.current)
            configuration.isTraffic = false
            let recorder = try Recorder(configuration)
            let exchanges = Atomic(recorder.nextExchangeID)
            let connections = Atomic(recorder.nextConnectionID)
            let work = SessionImport(
                session: path,
                recorder: recorder,
                makeExchange: { ExchangeID(exchanges.wrappingAdd(1, ordering: .relaxed).oldValue) },
                makeConnection: { ConnectionID(connections.wrappingAdd(1, ordering: .relaxed).oldValue) },
                progress: progress
            )
            defer { recorder.close() }
            let outcome = try work.run(file)
            if let error = recorder.close().error { throw error }
            return outcome
        }
    }
}

/// Imports into the session of the proxy in this process.
struct RunningImports: SessionImports {
    let recorder: Recorder
    let makeExchange: @Sendable () -> ExchangeID
    let makeConnection: @Sendable () -> ConnectionID

    func importExchanges(
        of file: String,
        progress: @escaping @Sendable (Double) -> Bool
    ) async throws -> ImportOutcome {
        let work = SessionImport(
            session: recorder.path ?? "",
            recorder: recorder,
            makeExchange: makeExchange,
            makeConnection: makeConnection,
            progress: progress
        )
        return try await SessionImport.onOwnThread { try work.run(file) }
    }
}
