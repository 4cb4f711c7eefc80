import ArgumentParser
import Description
import Files
import HTTPModel
import Jobs
import Recording
import Text

struct Trim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Make a session smaller: by filter, time or size.",
        discussion: """
              sluice trim last 'host:api.example.com' -o small.sluice
              sluice trim last --before 1h --in-place
              sluice trim last --max-size 500mb --dry-run

            FILTER says which exchanges to keep; each of several options removes more. Numbers stay the same. An interrupted trim \
            leaves the session unchanged. TIME is 14:30, 2026-11-21, 2026-11-21T14:30:05 or 10m (ago); SIZE is 500mb.

            \(FilterHelp.text)
            """
    )

    @Argument(help: .ownSession, completion: .ownSession) var session: String
    @Argument(help: .value("filter", "Keep only these exchanges."), completion: .filter) var filter: [String] = []
    @Option(help: .former) var keep: String?
    @Option(help: .value("time", "Remove exchanges that began before.")) var before: String?
    @Option(help: .value("time", "Remove exchanges that began then or later.")) var after: String?
    @Option(help: .value("size", "Remove the oldest until the file is at most this large.")) var maxSize: String?
    @Option(name: .shortAndLong, help: "The file to write; the session is not changed.", completion: .newSession)
    var output: String?
    @Flag(help: "Change the session itself. Refused while a running Sluice records to it.") var inPlace = false
    @Flag(help: "Only say what would be removed.") var dryRun = false

    func validate() throws {
        if filter.isEmpty, keep == nil, before == nil, after == nil, maxSize == nil {
            throw ValidationError("Say what to keep or remove: a filter, --before, --after or --max-size.")
        }
        if output != nil, inPlace { throw ValidationError("-o and --in-place exclude each other.") }
        if output == nil, !inPlace, !dryRun {
            throw ValidationError("Say where to write: -o FILE or --in-place; --dry-run writes nothing.")
        }
        if output == "-" { throw ValidationError("A session cannot be written to standard output; give -o FILE.") }
    }

    func run() throws {
        let trim = SessionTrim(removed: try removed(), largestSize: try maxSize.map(size))
        let path = try SessionQuery.changeable(session)
        if let output { try OutputPlace.check(output, reading: path, calling: "the session") }
        if dryRun {
            let outcome = try trim.rehearsal(try SessionReader(path: path))
            let about = outcome.isEstimate ? "About " : ""
            let removed = outcome.removed.of("exchange")
            return StandardStreams.out(
                """
                \(about)\(removed) would be removed, \(outcome.kept) kept. Nothing was changed.
                \(path) has \(Measures.size(outcome.sizeBefore)) and would have about \
                \(Measures.size(outcome.sizeAfter)).

                """
            )
        }
        let outcome: SessionTrim.Outcome
        do {
            outcome = try write(path, trim)
        } catch let error as SessionError where error.code == .locked {
            throw StartError(
                "\(path) is in use by another Sluice; only that one can change it.",
                hint: "Use -o FILE for a trimmed copy; 'sluice delete' hides exchanges at once."
            )
        }
        let before = "\(path) \(output == nil ? "had" : "has") \(Measures.size(outcome.sizeBefore))"
        StandardStreams.out(
            """
            \(outcome.removed.of("exchange")) removed, \(outcome.kept) kept.
            \(output ?? path) has \(Measures.size(outcome.sizeAfter)); \(before).

            """
        )
    }

    private func write(_ path: String, _ trim: SessionTrim) throws -> SessionTrim.Outcome {
        // Only a copy is written, so the work can stop at once.
        let consequence = output.map { "\($0) was not written." } ?? "\(path) is unchanged."
        return try LongWork.run("choosing", .things("exchange"), consequence: consequence, patience: .zero) { work in
            let files = SessionCopy.temporaryFiles(of: output ?? path)
            files.forEach(TemporaryFiles.add)
            defer { TemporaryFiles.forget(files) }
            var isCopying = false
            let report: SessionTrim.Report = { step, part in
                if step == .copying, !isCopying {
                    work.begin("copying")
                    isCopying = true
                }
                try work.report(nil, part: part)
            }
            return try output.map { try trim.copy(path, to: $0, report: report) } ?? trim.inPlace(path, report: report)
        }
    }

    private func removed() throws -> Filter? {
        var filters: [Filter] = []
        if keep != nil || !filter.isEmpty {
            let keep = (filter + [keep].compactMap(\.self)).joined(separator: " ")
            guard !keep.allSatisfy(\.isWhitespace) else {
                throw StartError("The filter is empty and would keep everything.", isUsage: true)
            }
            filters.append(try SessionQuery.filter(keep).negated)
        }
        if let before { filters.append(.begun(in: Int64.min..<(try time(before, "--before")))) }
        if let after { filters.append(.begun(in: try time(after, "--after")..<Int64.max)) }
        return filters.isEmpty ? nil : .any(of: filters)
    }

    private func time(_ text: String, _ option: String) throws -> Int64 {
        if let time = FilterClock.current.read(text) { return time }
        let hint = "For example 14:30, 2026-11-21, 2026-11-21T14:30:05Z, or 10m for ten minutes ago."
        throw StartError("\(option): '\(text)' is not a time.", hint: hint, isUsage: true)
    }

    private func size(_ text: String) throws -> Int64 {
        if let size = Filter.bytes(of: text), size > 0 { return size }
        throw StartError("--max-size: '\(text)' is not a size.", hint: "For example 500mb or 2gb.", isUsage: true)
    }
}
