import ArgumentParser
import Files
import HTTPModel
import Recording
import Runner
import Sharing

struct Trim: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a session smaller for good: by filter, time or size.",
        discussion: """
            What goes is removed with its heads and bodies and overwritten, and the file gives its pages back; the numbers of \
            the others stay. A trim that is interrupted leaves the session as it was, or trimmed. Several options together \
            remove what any of them says. The rules that were in force stay in the session.

            TIME is 14:30, 2026-11-21, 2026-11-21T14:30:05 or 10m (ago); SIZE is 500mb or 2gb. FILTER is one argument:

            \(FilterHelp.text)
            """
    )

    @Argument(help: "The session file, or 'last' for the newest one.", completion: .ownSession) var session: String
    @Option(help: .value("filter", "What does not fit goes.")) var keep: String?
    @Option(help: .value("time", "What began before goes.")) var before: String?
    @Option(help: .value("time", "What began then or later goes.")) var after: String?
    @Option(help: .value("size", "The oldest go until the file takes at most so much.")) var maxSize: String?
    @Option(name: .shortAndLong, help: "The file to write; the session stays as it is.", completion: .newSession)
    var output: String?
    @Flag(help: "Change the session itself. Refused while a running Sluice records to it.") var inPlace = false
    @Flag(help: "Only say what would go.") var dryRun = false

    func validate() throws {
        if keep == nil, before == nil, after == nil, maxSize == nil {
            throw ValidationError("Say what goes: --keep, --before, --after or --max-size.")
        }
        if output != nil, inPlace { throw ValidationError("-o and --in-place exclude each other.") }
        if output == nil, !inPlace, !dryRun {
            throw ValidationError("Say where the result goes: -o FILE or --in-place; or only look with --dry-run.")
        }
        if output == "-" { throw ValidationError("A session cannot be written to standard output; give -o FILE.") }
    }

    func run() throws {
        let trim = SessionTrim(removed: try removed(), largestSize: try maxSize.map(size))
        let path = try SessionQuery.path(session)
        guard try !ArchiveFile.isArchive(path) else {
            throw StartError("\(path) is an archive, which is only read.", isUsage: true)
        }
        if let output { try OutputPlace.check(output, reading: path, calling: "the session") }
        if dryRun {
            let outcome = try trim.rehearsal(try SessionReader(path: path))
            let about = outcome.isEstimate ? "About " : ""
            let removed = exchanges(outcome.removed)
            return StandardStreams.out(
                """
                \(about)\(removed) would go, \(outcome.kept) would stay. Nothing was changed.
                \(path) has \(Measures.size(outcome.sizeBefore)) and would have about \
                \(Measures.size(outcome.sizeAfter)).

                """
            )
        }
        let outcome: SessionTrim.Outcome
        do {
            outcome = try output.map { try copy(path, to: $0, trim) } ?? inPlace(path, trim)
        } catch let error as SessionError where error.code == .locked {
            throw StartError(
                "\(path) is in use by another Sluice, which alone may change it.",
                hint:
                    "Give -o FILE for a trimmed copy; sluice delete hides exchanges at once, and they go when it ends."
            )
        }
        let sizes = "\(Measures.size(outcome.sizeAfter))"
        let before = "\(path) \(output == nil ? "had" : "has") \(Measures.size(outcome.sizeBefore))"
        StandardStreams.out(
            """
            \(exchanges(outcome.removed)) went, \(outcome.kept) stay.
            \(output ?? path) has \(sizes); \(before).

            """
        )
    }

    private func copy(_ path: String, to target: String, _ trim: SessionTrim) throws -> SessionTrim.Outcome {
        // Nothing but the copy is written, so whoever stops it need not wait.
        let consequence = "\(target) was not written."
        return try LongWork.run("choosing", .things("exchange"), consequence: consequence, patience: .zero) { work in
            let files = SessionCopy.temporaryFiles(of: target)
            files.forEach(TemporaryFiles.add)
            defer { TemporaryFiles.forget(files) }
            return try trim.copy(path, to: target, report: Self.report(to: work))
        }
    }

    private func inPlace(_ path: String, _ trim: SessionTrim) throws -> SessionTrim.Outcome {
        let consequence = "\(path) is as it was, or trimmed whole."
        return try LongWork.run("trimming", .things("exchange"), consequence: consequence) { work in
            try trim.inPlace(path, report: Self.report(to: work))
        }
    }

    private static let titles: [SessionTrim.Step: String] = [
        .choosing: "choosing", .copying: "copying", .removing: "removing", .givingBack: "giving pages back",
    ]

    private static func report(to work: LongWork) -> SessionTrim.Report {
        var last = SessionTrim.Step.choosing
        return { step, part in
            if step != last {
                work.begin(titles[step] ?? "")
                last = step
            }
            try work.report(nil, part: part)
        }
    }

    private func exchanges(_ count: Int64) -> String { "\(count) exchange\(count == 1 ? "" : "s")" }

    private func removed() throws -> Filter? {
        var filters: [Filter] = []
        if let keep {
            guard !keep.allSatisfy(\.isWhitespace) else {
                throw StartError("--keep needs a filter; an empty one would keep everything.", isUsage: true)
            }
            filters.append(try SessionQuery.filter(keep).negated)
        }
        if let before { filters.append(.begun(in: Int64.min..<(try time(before, "--before")))) }
        if let after { filters.append(.begun(in: try time(after, "--after")..<Int64.max)) }
        return filters.isEmpty ? nil : .any(of: filters)
    }

    private func time(_ text: String, _ option: String) throws -> Int64 {
        if let time = FilterClock.current.read(text) { return time }
        throw StartError(
            "'\(text)' of \(option) is no time.",
            hint: "For example 14:30, 2026-11-21, 2026-11-21T14:30:05Z, or 10m for ten minutes ago.",
            isUsage: true
        )
    }

    private func size(_ text: String) throws -> Int64 {
        if let size = Filter.bytes(of: text), size > 0 { return size }
        throw StartError("'\(text)' of --max-size is no size.", hint: "For example 500mb, 2gb or 64mib.", isUsage: true)
    }
}
