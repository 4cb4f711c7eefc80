import ExchangeCore
import HTTPModel
import Rules
import Text

/// Looks for the file that answers a request, rule by rule, and makes the answer.
struct FileLookUps: BlockingWork {
    let candidates: [MapLocal.Candidate]
    let head: RequestHead
    let url: RequestURL

    func run() -> WorkOutcome {
        var trace: [TraceEntry] = []
        for (number, candidate) in candidates.enumerated() {
            let isLast = number == candidates.count - 1
            let lookUp = FileLookUp(
                rule: candidate.rule,
                remainder: candidate.remainder,
                isLast: isLast,
                head: head,
                url: url
            )
            let outcome = lookUp.run()
            trace += outcome.trace
            if case .forward = outcome.verdict, !isLast { continue }
            return WorkOutcome(outcome.verdict, trace: trace)
        }
        return WorkOutcome(.forward, trace: trace)
    }
}

/// Looks for the file of one rule.
private struct FileLookUp {
    let rule: MapLocal.Rule
    /// What is looked up in a directory: the part of the path that the location leaves over.
    let remainder: String
    /// Whether no other rule is asked after it.
    let isLast: Bool
    let head: RequestHead
    let url: RequestURL

    func run() -> WorkOutcome {
        do throws(Miss) {
            return try answer()
        } catch {
            return outcome(of: error)
        }
    }

    /// There is nothing to answer with.
    private struct Miss: Error {
        /// Where it was looked for, as the profile says it.
        let place: String
        /// Why nothing was found, in words.
        let reason: String
    }

    // MARK: - Finding

    private func answer() throws(Miss) -> WorkOutcome {
        guard let status = FileStatus(path: rule.path) else {
            throw Miss(place: rule.name, reason: "it does not exist")
        }
        if status.kind != .directory { return try answerFromRoot() }
        let path: PathNames
        do throws(PathNames.Refusal) {
            path = try PathNames(remainder)
        } catch {
            throw Miss(place: place(remainder), reason: "\(error)")
        }
        let tree = FileTree(rule.path, isCaseSensitive: rule.isCaseSensitive)
        let found = try open(path.names, tree)
        switch found.status.kind {
        case .directory: return try answerForDirectory(path, tree)
        case .file where !path.isDirectory: return try answer(found, path.names, tree)
        case .file, .link, .special: throw Miss(place: place(path.names), reason: "it is a file, not a directory")
        }
    }

    private func open(_ names: [String], _ tree: FileTree) throws(Miss) -> FileTree.Found {
        do throws(LookUpFailure) {
            return try tree.open(names)
        } catch {
            throw Miss(place: place(names), reason: "\(error)")
        }
    }

    /// The file that a mirror keeps of a URL which is a directory as well, else the index.
    private func answerForDirectory(_ path: PathNames, _ tree: FileTree) throws(Miss) -> WorkOutcome {
        if !path.isDirectory, let last = path.names.last {
            let names = Array(path.names.dropLast()) + [last + MirrorNames.besideDirectory]
            if let found = try? tree.open(names), found.status.kind == .file { return try answer(found, names, tree) }
        }
        let names = path.names + [rule.index]
        let found = try open(names, tree)
        guard found.status.kind == .file else { throw Miss(place: place(names), reason: "it is a directory") }
        return try answer(found, names, tree)
    }

    /// The rule leads to one file.
    private func answerFromRoot() throws(Miss) -> WorkOutcome {
        let found = try openRoot()
        guard found.status.kind == .file else { throw Miss(place: rule.name, reason: "it is no file") }
        // Beside the file is where the user put the sidecar, link or not.
        let beside = try? OpenFile(path: rule.path + Sidecar.suffix)
        return try answer(found, named: rule.name, sidecar: beside?.sidecar)
    }

    private func openRoot() throws(Miss) -> FileTree.Found {
        do throws(SystemError) {
            let file = try OpenFile(path: rule.path)
            let status = try file.status()
            return FileTree.Found(file: file, status: status)
        } catch {
            throw Miss(place: rule.name, reason: "it cannot be read (\(error))")
        }
    }

    private func answer(
        _ found: consuming FileTree.Found,
        _ names: [String],
        _ tree: FileTree
    ) throws(Miss) -> WorkOutcome {
        try answer(found, named: place(names), sidecar: sidecar(of: names, tree))
    }

    private func sidecar(of names: [String], _ tree: FileTree) -> Sidecar? {
        guard let name = names.last,
            let found = try? tree.open(Array(names.dropLast()) + [name + Sidecar.suffix])
        else { return nil }
        return found.file.sidecar
    }

    /// How the trace calls a file: as the profile calls the directory, and what was looked up in it.
    private func place(_ names: [String]) -> String { place(names.joined(separator: "/")) }

    private func place(_ remainder: String) -> String {
        rule.name + (rule.name.hasSuffix("/") || remainder.isEmpty ? "" : "/") + remainder
    }

    // MARK: - Answering

    private func answer(
        _ found: consuming FileTree.Found,
        named name: String,
        sidecar: Sidecar?
    ) throws(Miss) -> WorkOutcome {
        let builder = FileAnswer(head, status: rule.status, fields: rule.fields)
        let fileName = name.hasSuffix(MirrorNames.besideDirectory) ? String(name.dropLast()) : name
        do throws(SystemError) {
            let (answer, size) = try builder.answer(found, name: fileName, sidecar: sidecar)
            let part = answer.head.fields.value(of: "content-range").map { ", \($0)" } ?? ""
            let text = "answered from \(name) (\(answer.head.status), \(size.grouped) bytes\(part))"
            let problems = sidecar?.problems ?? []
            return WorkOutcome(
                .respond(answer),
                trace: [fired(text)]
                    + problems.map { note("\(name)\(Sidecar.suffix): \($0); it was left out") }
            )
        } catch {
            throw Miss(place: name, reason: "it cannot be read (\(error))")
        }
    }

    private func outcome(of miss: Miss) -> WorkOutcome {
        let looked = "looked for \(miss.place): \(miss.reason)"
        switch rule.onMiss {
        case .pass, .next:
            let next = isLast ? "the request went on to the server" : "the next rule was asked"
            return WorkOutcome(.forward, trace: [note("\(looked); \(next)")])
        case .notFound:
            let answer = explanation(404, "There is no such file", "There is no file for \(url) in \(rule.name).")
            return WorkOutcome(.respond(answer), trace: [fired("\(looked); answered 404")])
        case .error:
            let text = "The rule '\(rule.heading.name)' answers \(url) from files, but found none. It \(looked)."
            let answer = explanation(502, "There is no file to answer with", text)
            return WorkOutcome(.respond(answer), trace: [fired("\(looked); answered 502")])
        }
    }

    private func explanation(_ status: Int, _ title: String, _ text: String) -> LocalAnswer {
        let takesHTML = head.fields.value(of: "accept")?.contains("text/html") ?? false
        return FileAnswer(head, status: nil, fields: rule.fields)
            .explained(.explanation(status: status, title: title, text: text, html: takesHTML))
    }

    private func fired(_ text: String) -> TraceEntry {
        TraceEntry(stage: MapLocal.descriptor.key, rule: rule.heading.name, outcome: .fired, text: text)
    }

    /// A note is no rule's doing, so it has the rule's name in its text.
    private func note(_ text: String) -> TraceEntry {
        TraceEntry(stage: MapLocal.descriptor.key, outcome: .note, text: "\(rule.heading.name): \(text)")
    }
}

extension OpenFile {
    fileprivate var sidecar: Sidecar? {
        guard (try? status())?.kind == .file, let bytes = try? read(0..<Int64(Sidecar.limit)) else { return nil }
        return Sidecar(bytes)
    }
}
