import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Text

/// The files from which a rule answers.
struct FileSource: Sendable {
    typealias Fields = [(name: String, value: String)]

    let path: String
    /// The path as in the profile.
    let name: String
    var onMiss = MissPolicy.pass
    var isCaseSensitive = true
    /// The file that answers for a directory; `nil` if the path must be a file.
    var index: String?
    let status: Int?
    let fields: Fields
    /// The names of the file within the directory `path`; `nil` if the URL has them.
    var names: [String]?
    /// Whether the names have secret values.
    var hidesNames = false
}

/// Finds the file of one rule and makes the answer.
struct FileLookUp: Sendable {
    private let rule: String
    private let source: FileSource
    /// The part of the path after the location's literal part, which is looked up in a directory.
    private let remainder: String
    private let isLast: Bool
    private let head: RequestHead
    private let url: RequestURL

    init(
        _ source: FileSource,
        _ match: RuleMatch<MapLocal.Rule>,
        isLast: Bool,
        head: RequestHead,
        url: RequestURL
    ) {
        (rule, self.source, self.isLast, self.head, self.url) = (match.rule.heading.name, source, isLast, head, url)
        remainder = match.location?.remainder(of: url.path) ?? String(url.path.dropFirst())
    }

    func run() -> WorkOutcome {
        do throws(NotFoundError) {
            return try answer()
        } catch {
            return outcome(of: error)
        }
    }

    private struct NotFoundError: Error {
        /// The path as in the profile.
        let place: String
        /// Why nothing was found.
        let reason: String
    }

    private func answer() throws(NotFoundError) -> WorkOutcome {
        guard let status = FileStatus(path: source.path) else {
            throw NotFoundError(place: source.name, reason: "it does not exist")
        }
        if status.kind != .directory { return try answerFromRoot() }
        let tree = FileTree(source.path, isCaseSensitive: source.isCaseSensitive)
        if let names = source.names {
            let found = try open(names, tree)
            guard found.status.kind == .file else {
                throw NotFoundError(place: source.name, reason: "it is not a file")
            }
            return try answer(found, names, tree)
        }
        guard source.index != nil else { throw NotFoundError(place: source.name, reason: "it is a directory") }
        let path: PathNames
        do throws(PathNames.NameError) {
            path = try PathNames(remainder)
        } catch {
            throw NotFoundError(place: place([remainder]), reason: "\(error)")
        }
        let found = try open(path.names, tree)
        switch found.status.kind {
        case .directory: return try answerForDirectory(path, tree)
        case .file where !path.isDirectory: return try answer(found, path.names, tree)
        case .file, .link, .special:
            throw NotFoundError(place: place(path.names), reason: "it is a file, not a directory")
        }
    }

    private func open(_ names: [String], _ tree: FileTree) throws(NotFoundError) -> FileTree.Found {
        do throws(LookUpError) {
            return try tree.open(names)
        } catch {
            throw NotFoundError(place: place(names), reason: source.hidesNames ? "it was not found" : "\(error)")
        }
    }

    /// Answers from the file that a mirror saved beside a directory of the same name, otherwise from the index.
    private func answerForDirectory(_ path: PathNames, _ tree: FileTree) throws(NotFoundError) -> WorkOutcome {
        if !path.isDirectory, let last = path.names.last {
            let names = Array(path.names.dropLast()) + [last + MirrorNames.besideDirectory]
            if let found = try? tree.open(names), found.status.kind == .file { return try answer(found, names, tree) }
        }
        let names = path.names + [source.index ?? ""]
        let found = try open(names, tree)
        guard found.status.kind == .file else { throw NotFoundError(place: place(names), reason: "it is a directory") }
        return try answer(found, names, tree)
    }

    private func answerFromRoot() throws(NotFoundError) -> WorkOutcome {
        let found = try openRoot()
        guard found.status.kind == .file else { throw NotFoundError(place: source.name, reason: "it is not a file") }
        // The sidecar is beside the path in the profile, even if that path is a link.
        let beside = try? OpenFile(path: source.path + Sidecar.suffix)
        return try answer(found, named: source.name, sidecar: beside?.sidecar)
    }

    private func openRoot() throws(NotFoundError) -> FileTree.Found {
        do throws(SystemError) {
            let file = try OpenFile(path: source.path)
            let status = try file.status()
            return FileTree.Found(file: file, status: status)
        } catch {
            throw NotFoundError(place: source.name, reason: "it cannot be read (\(error))")
        }
    }

    private func answer(
        _ found: consuming FileTree.Found,
        _ names: [String],
        _ tree: FileTree
    ) throws(NotFoundError) -> WorkOutcome {
        try answer(found, named: place(names), sidecar: sidecar(of: names, tree))
    }

    private func sidecar(of names: [String], _ tree: FileTree) -> Sidecar? {
        guard let name = names.last,
            let found = try? tree.open(Array(names.dropLast()) + [name + Sidecar.suffix])
        else { return nil }
        return found.file.sidecar
    }

    /// The name of a file in traces: the directory as the profile names it, and the names looked up in it.
    private func place(_ names: [String]) -> String { source.names == nil ? source.name.path(to: names) : source.name }

    private func answer(
        _ found: consuming FileTree.Found,
        named name: String,
        sidecar: Sidecar?
    ) throws(NotFoundError) -> WorkOutcome {
        let builder = FileAnswer(head, status: source.status, fields: source.fields)
        let last = source.names?.last ?? name
        let fileName = last.hasSuffix(MirrorNames.besideDirectory) ? String(last.dropLast()) : last
        do throws(SystemError) {
            let answer = try builder.answer(found, name: fileName, sidecar: sidecar)
            let size = answer.file?.length ?? Int64(answer.body.readableBytes)
            let part = answer.head.fields.value(of: "content-range").map { ", \($0)" } ?? ""
            let text = "answered from \(name) (\(answer.head.status), \(size.grouped) bytes\(part))"
            let problems = (sidecar?.problems ?? []).map { "\(name)\(Sidecar.suffix): \($0); it was ignored" }
            return WorkOutcome(.respond(answer), trace: [fired(text)] + problems.map(note))
        } catch {
            throw NotFoundError(place: name, reason: "it cannot be read (\(error))")
        }
    }

    private func outcome(of miss: NotFoundError) -> WorkOutcome {
        let looked = "looked for \(miss.place): \(miss.reason)"
        switch source.onMiss {
        case .pass, .next:
            let next = isLast ? "the request went on to the server" : "the next rule was asked"
            return WorkOutcome(.forward, trace: [note("\(looked); \(next)")])
        case .notFound:
            let answer = explanation(404, "There is no such file", "There is no file for \(url) in \(source.name).")
            return WorkOutcome(.respond(answer), trace: [fired("\(looked); answered 404")])
        case .error:
            let text = "The rule '\(rule)' answers \(url) from files, but found none. It \(looked)."
            let answer = explanation(502, "The file for the answer is missing", text)
            return WorkOutcome(.respond(answer), trace: [fired("\(looked); answered 502")])
        }
    }

    private func explanation(_ status: Int, _ title: String, _ text: String) -> LocalAnswer {
        FileAnswer(head, status: nil, fields: source.fields)
            .explained(.explanation(status: status, title: title, text: text, html: head.takesHTML))
    }

    private func fired(_ text: String) -> TraceEntry { MapLocal.fired(rule, text) }

    private func note(_ text: String) -> TraceEntry { MapLocal.note(rule, text) }
}

extension OpenFile {
    fileprivate var sidecar: Sidecar? {
        guard (try? status())?.kind == .file, let bytes = try? read(0..<Int64(Sidecar.limit)) else { return nil }
        return Sidecar(bytes)
    }
}
