import ArgumentParser
import Files
import Formats
import Foundation
import HTTPModel
import Jobs
import Masking
import Recording

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export exchanges: HAR, page, bundle, cURL and others.",
        discussion: """
              sluice export last -o bug.html
              sluice export last 'status:5xx' --format bundle -o bug.zip
              sluice export last id:3 --format curl
              sluice export last --format raw -o messages
              sluice export last --body-limit 64kb -o all.jsonl.zst

            Secrets are masked, each as a word such as sluice-token-1. 'sluice guide export' describes the formats, 'sluice guide \
            masking' the masks.

            \(FilterHelp.text)

            Exit codes: 0 written, 1 no exchange matches or something could not be read or written, 2 wrong usage.
            """
    )

    /// In bytes; a larger export is reported.
    private static let large = 200_000_000

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .value("filter", "Which exchanges; may begin with more .sluice files."), completion: .filter)
    var filter: [String] = []
    @Option(name: .customLong("format"), help: .value("format", "The format. (default: by the file's name)"))
    var givenFormat: ExportFormat?
    @Option(
        name: .shortAndLong,
        help: .value(
            "file",
            "The file to write, with raw a directory; compressed if its name ends in .gz or .zst. (default: standard output)"
        ),
        completion: .file()
    )
    var output: String?
    @Option(help: .value("text", "With html and bundle: a title.")) var title: String?
    @Option(help: .value("text", "With html and bundle: a note at the top.")) var note: String?
    @Option(help: .value("size", "With har, json and jsonl: only so much of each body (64kb, 0)."))
    var bodyLimit: String?
    @Flag(name: .customLong("print0"), help: "With curl: commands separated by NUL.") var nulSeparated = false
    @Flag(help: "With raw: also each body as a file, decoded.") var bodies = false
    @Flag(help: "With raw: write into a directory that is not empty.") var force = false
    @Flag(help: "Do not mask secrets.") var secrets = false
    @Flag(help: "List texts that look like secrets; if there are any, end with 1 and write nothing.") var strict = false
    @OptionGroup var reading: StoreReading
    @Option(help: .value("file", "A profile whose 'mask:' is used; repeatable."), completion: .profile)
    var profile: [String] = []
    @OptionGroup var variables: VariableOptions

    /// `validate` has already refused an unknown format.
    private var format: ExportFormat { givenFormat ?? output.flatMap { ExportFormat(fileName: $0) } ?? .har }

    func validate() throws {
        if givenFormat == nil, output.flatMap({ ExportFormat(fileName: $0) }) == nil {
            let formats = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("Give a --format (\(formats)) or a file with its ending, such as -o bug.har.")
        }
        if secrets, strict || !profile.isEmpty { throw ValidationError("--secrets excludes --strict and --profile.") }
        if title ?? note != nil, !format.takesNote {
            throw ValidationError("\(title != nil ? "--title" : "--note") needs --format html or bundle.")
        }
        if format.isZip, let output, ExportFormat.compression(fileName: output) != nil {
            throw ValidationError("A zip is compressed already: name it -o bug.zip.")
        }
        _ = try bodyBound()
        if nulSeparated, format != .curl { throw ValidationError("--print0 needs --format curl.") }
        if bodies || force, format != .raw {
            throw ValidationError("\(bodies ? "--bodies" : "--force") needs --format raw.")
        }
    }

    /// In bytes.
    private func bodyBound() throws -> Int? {
        guard let bodyLimit else { return nil }
        guard format.limitsBodies else { throw ValidationError("--body-limit needs --format har, json or jsonl.") }
        guard let size = Filter.bytes(of: bodyLimit), let bound = Int(exactly: size) else {
            throw ValidationError("--body-limit takes a size, for example 64kb, or 0; not '\(bodyLimit)'.")
        }
        return bound
    }

    private var isDirectory: Bool {
        guard format == .raw, let output, output != "-" else { return false }
        return !output.lowercased().hasSuffix(".zip")
    }

    func run() throws {
        if format == .bundle || format == .raw, output ?? "-" == "-", isatty(STDOUT_FILENO) == 1 {
            throw format == .raw
                ? StartError(
                    "Raw messages are files.",
                    hint: "Name a directory or a zip: -o bug, -o bug.zip",
                    isUsage: true
                )
                : StartError("A bundle is a zip file.", hint: "Name a file: -o bug.zip", isUsage: true)
        }
        for session in SessionQuery.split(session, filter).sessions where try reading.fetch(session) == nil {
            try OutputPlace.check(output, reading: SessionQuery.path(session))
        }
        if isDirectory, let output, !force, OutputDirectory.isThere(output) {
            throw StartError("\(output) exists and is not empty.", hint: "--force writes into it.")
        }
        let consequence = isToStandardOutput ? "The output is incomplete." : "\(output ?? "") was not written."
        let isShown = !isToStandardOutput || isatty(STDOUT_FILENO) == 0
        try LongWork.run("exporting", .things("exchange"), consequence: consequence, isShown: isShown, export)
    }

    private var isToStandardOutput: Bool { output == nil || output == "-" }

    private func export(_ work: LongWork) throws {
        // The output is opened first, so that its errors come before anything is read. Traffic may contain secrets.
        let file = try OutputFile(isDirectory ? nil : output, isSecret: true)
        let directory = try isDirectory ? output.map { try OutputDirectory($0, isForced: force) } : nil
        let (sessions, filter) = SessionQuery.split(session, filter)
        let query =
            try reading.fetch(session).map { try SessionQuery($0, filter: filter, work: work) }
            ?? SessionQuery(sessions: sessions, filter: filter, work: work)
        if !secrets, profile.isEmpty { try query.requireOneMask() }
        try query.requireMatch()
        var title = "finding secrets"
        let pipeline = try ExportPipeline(query, work) { title }
        let masked = try secrets ? nil : masked(query, pipeline)
        title = "exporting"
        var destination = destination(file, query.path)
        destination.directory = directory
        destination.wantsBodies = bodies
        destination.bodyLimit = try bodyBound()
        destination.onGrowth(beyond: Export.large) {
            StandardStreams.error("sluice: more than 200 MB; Ctrl-C stops it, a filter makes it smaller\n")
        }
        destination.title = self.title.map { masked?.masked(text: $0) ?? $0 }
        destination.note = note.map { masked?.masked(text: $0) ?? $0 }
        var isPacking = false
        destination.onPacking = { part in
            if !isPacking { work.begin("packing") }
            isPacking = true
            try work.report(nil, part: part)
        }
        var export = try format.export(masked ?? pipeline.pages, of: query.reader, to: destination)
        let count = try SessionMask.write(&export, masked, pipeline)
        try file.finish()
        if count == 0 { StandardStreams.error("sluice: \(query.path) has no exchanges.\n") }
        let summary = masked.flatMap { SessionMask.summary($0, keeping: "--secrets keeps them.") }
        for remark in [summary, query.remark, export.remark].compactMap(\.self) {
            StandardStreams.error("sluice: \(remark)\n")
        }
        if let script = export as? any ScriptExport {
            let bodies = query.path + ".bodies"
            if isToStandardOutput, FileManager.default.fileExists(atPath: bodies) {
                StandardStreams.error("sluice: bodies too large for a command line are in \(bodies)\n")
            }
            for (id, reason) in script.skipped { StandardStreams.error("sluice: \(id) left out: \(reason)\n") }
        }
    }

    /// Throws if --strict finds texts that look like secrets.
    private func masked(_ query: SessionQuery, _ pipeline: ExportPipeline) throws -> MaskedSource {
        let masked = try SessionMask.source(pipeline, SessionMask.rules(of: query.reader, profiles: profile))
        let suspicions = SessionMask.suspicions(masked, all: strict)
        for line in suspicions { StandardStreams.error("sluice: \(line)\n") }
        if strict, !suspicions.isEmpty {
            let hint = "Mask them by name in a profile, or omit --strict."
            throw StartError("Nothing was exported (--strict).", hint: hint)
        }
        return masked
    }

    /// Bodies that are too large for a command line are in files beside the script, with paths relative to the script.
    /// Commands that may run anywhere use absolute paths; their files are beside the output or the session.
    private func destination(_ file: OutputFile, _ session: String) -> ExportDestination {
        let path = output == "-" ? nil : output
        if let path, !nulSeparated { return ExportDestination(file, path: path) }
        let bodyPath = (path ?? session) + ".bodies"
        let bodies = BodyDirectory(path: bodyPath, referredToAs: URL(fileURLWithPath: bodyPath).path)
        return ExportDestination(file, bodies: bodies, script: nulSeparated ? .nulSeparated : .script)
    }
}

extension ExportFormat: ExpressibleByArgument {
    /// For help.
    var defaultValueDescription: String { title }
}
