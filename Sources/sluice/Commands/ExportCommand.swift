import ArgumentParser
import Files
import Foundation
import HTTPModel
import Masking
import Recording
import Runner
import Sharing

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Export exchanges of a session, for a bug report or to send them again.",
        discussion: """
            Passwords, tokens, cookies and keys are masked: each secret is one word, such as sluice-token-1, wherever it \
            stands; in a cURL script it is a variable of the shell. 'mask:' of the profile that was in force, or of \
            --profile, says what is masked besides and what is not.

            A bundle is a zip for a bug report: these exchanges as a session, as HAR and in the profile that was in force, \
            with a README.txt that tells what failed. sluice open takes it again.

            \(FilterHelp.text)
            """
    )

    @Argument(help: "The session file, 'last' for the newest one, or an archive.") var session: String
    @Argument(help: .value("filter", "Which exchanges.")) var filter: [String] = []
    @Option(help: "What is written: commands, programs, data, a table, a page, or a zip with all.")
    var format: ExportFormat
    @Option(name: .shortAndLong, help: "The file to write. (default: standard output)") var output: String?

    @Flag(name: .customLong("print0"), help: "With curl: commands separated by NUL in place of a script.")
    var nulSeparated = false

    @Flag(help: "Keep passwords, tokens, cookies and keys as they were recorded.") var secrets = false
    @Flag(help: "Where a text looks like a secret and is not known as one: write nothing, end with exit code 1.")
    var strict = false
    @Option(help: .value("file", "A profile whose 'mask:' says what is masked. Repeatable."))
    var profile: [String] = []

    func validate() throws {
        if secrets, strict || !profile.isEmpty {
            throw ValidationError("--secrets masks nothing, so --strict and --profile do not go with it.")
        }
        if nulSeparated, format != .curl { throw ValidationError("--print0 goes with --format curl.") }
    }

    func run() throws {
        if format == .bundle, output == nil, isatty(STDOUT_FILENO) == 1 {
            throw StartError(
                "A bundle is a zip, which no terminal shows.",
                hint: "Name a file: -o bug.zip",
                isUsage: true
            )
        }
        let consequence = isToStandardOutput ? "What was written is not whole." : "\(output ?? "") was not written."
        let isShown = !isToStandardOutput || isatty(STDOUT_FILENO) == 0
        try LongWork.run("exporting", .things("exchange"), consequence: consequence, isShown: isShown) { work in
            try export(work)
        }
    }

    private var isToStandardOutput: Bool { output == nil || output == "-" }

    private func export(_ work: LongWork) throws {
        let query = try SessionQuery(session: session, filter: filter, work: work)
        var title = "finding secrets"
        let pipeline = try ExportPipeline(query, work) { title }
        let masked = try secrets ? nil : masked(query, pipeline)
        title = "exporting"
        // Recorded traffic may hold secrets.
        let file = try OutputFile(output, isSecret: true)
        var export = format.export(masked ?? pipeline.pages, of: query.reader, to: destination(file, query.path))
        try SessionMask.write(&export, masked, pipeline)
        try file.finish()
        let summary = masked.flatMap { SessionMask.summary($0, keeping: "--secrets keeps them.") }
        if let summary { StandardStreams.error("sluice: \(summary)\n") }
        if let remark = export.remark { StandardStreams.error("sluice: \(remark)\n") }
        if let script = export as? any ScriptExport {
            let bodies = query.path + ".bodies"
            if isToStandardOutput, FileManager.default.fileExists(atPath: bodies) {
                StandardStreams.error("sluice: bodies that no command line can carry are in \(bodies)\n")
            }
            for (id, reason) in script.skipped { StandardStreams.error("sluice: \(id) left out: \(reason)\n") }
        }
    }

    /// The session without its secrets. Throws where --strict refuses what looks like one.
    private func masked(_ query: SessionQuery, _ pipeline: ExportPipeline) throws -> MaskedSource {
        let masked = try SessionMask.source(pipeline, SessionMask.rules(of: query.reader, profiles: profile))
        let suspicions = SessionMask.suspicions(masked)
        for line in suspicions { StandardStreams.error("sluice: \(line)\n") }
        if strict, !suspicions.isEmpty {
            throw StartError(
                "Nothing is exported, as --strict was given.",
                hint: "Mask them by their names in a profile, or leave --strict out."
            )
        }
        return masked
    }

    /// Bodies that no command line can hold go beside the script, which names them relative to itself; for commands
    /// that may be run from anywhere they go beside the output or the session, and are named absolutely.
    private func destination(_ file: OutputFile, _ session: String) -> ExportDestination {
        let path = output == "-" ? nil : output
        if let path, !nulSeparated { return ExportDestination(file, path: path) }
        let bodyPath = (path ?? session) + ".bodies"
        let bodies = BodyDirectory(path: bodyPath, referredToAs: URL(fileURLWithPath: bodyPath).path)
        return ExportDestination(file, bodies: bodies, script: nulSeparated ? .nulSeparated : .script)
    }
}

extension ExportFormat: ExpressibleByArgument {}
