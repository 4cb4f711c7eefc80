import HTTPModel
package import Recording

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

    package init(path: String) { self.path = path }

    package func edit(_ edit: SessionEdit) async throws -> SessionEditResult {
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

    /// Removes what was deleted. Throws ``SessionError`` where it stays marked.
    package func close() throws {
        defer { editor = nil }
        try editor?.close()
    }
}
