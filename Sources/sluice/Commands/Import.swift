import ArgumentParser
import CharlesFiles
import Files
import Foundation
import Jobs
import NIOCore
import Rules
import Sharing
import Tools

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import other programs' recordings or settings.",
        subcommands: [Session.self, Charles.self]
    )

    struct Charles: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a rule profile of what Charles exported.",
            discussion: """
                Takes what Tools > Import/Export Settings writes, the export of a single tool, and Charles' own settings \
                file (~/.charles.config, com.xk72.charles.config). Licence keys, certificates and passwords in them are \
                not read.

                For each rule a line on standard error tells whether it was imported, approximated or skipped, and why; \
                the same stands as comments in the profile. What comes out always loads.

                For example: sluice import charles settings.xml --remap-path 'C:\\mocks=mocks' -o profile.yaml

                Exit codes: 0 there is a rule in the profile, 1 there is none, or the file cannot be read, 2 wrong usage.
                """
        )

        @Argument(help: "The file that Charles wrote, or - for standard input.", completion: .file()) var file: String

        @Option(help: "What the export of a single tool is that does not say so.")
        var `as`: CharlesSettings.LoneTool?

        @Option(
            help: .value(
                "old=new",
                "Where files of Map Local are now; NEW is relative to the profile. Can be given several times."
            )
        )
        var remapPath: [String] = []

        @Option(name: .shortAndLong, help: "The profile to write. (default: standard output)", completion: .profile)
        var output: String?
        @Flag(help: "Write over a profile that is there.") var force = false

        func validate() throws {
            for argument in remapPath where CharlesImport.PathChange(argument) == nil {
                throw ValidationError("--remap-path takes OLD=NEW, not '\(argument)'.")
            }
        }

        func run() throws {
            // A profile that was edited is worth more than the one that is made here.
            try OutputPlace.check(output, reading: file, calling: "the file of Charles")
            try Overwriting.check(output, isForced: force)
            let bytes = try read()
            try checkForExchanges(bytes)
            let name = file == "-" ? "standard input" : (file as NSString).lastPathComponent
            let report: FidelityReport
            let profile: CharlesImport
            do throws(CharlesError) {
                let (settings, unread) = try CharlesSettings.read(bytes, as: `as`)
                profile = try CharlesImport(
                    settings,
                    source: name,
                    file: output ?? "profile.yaml",
                    paths: remapPath.compactMap(CharlesImport.PathChange.init)
                )
                report = profile.report.adding(unread)
            } catch {
                throw StartError(
                    "\(file == "-" ? name : file):\(error)",
                    isUsage: error.needsArgument,
                    isPositioned: true
                )
            }
            StandardStreams.error("\(report)\n")
            guard profile.isUsable else {
                throw StartError("There is no rule in \(name) that a profile can have.")
            }
            try OutputFile(output).writeAll(.init(string: profile.text))
        }

        /// Refuses what has exchanges and no settings.
        private func checkForExchanges(_ bytes: [UInt8]) throws(StartError) {
            guard !bytes.starts(with: "SQLite format 3".utf8) else {
                throw StartError(
                    "\(file == "-" ? "Standard input" : file) is a session and has no settings of Charles.",
                    hint: "sluice import session FILE -o SESSION adds its exchanges to another one."
                )
            }
            switch ArchiveFormat(beginning: Array(bytes.prefix(ArchiveFormat.tellingBytes))) {
            case .unread(let format):
                throw StartError("\(file == "-" ? "Standard input" : file) is \(format.title).", hint: format.hint)
            case .har, .charlesJSON, .charlesXML, .mitmproxy, .zip, .charlesZip, .fiddlerZip, .gzip, .curl:
                throw StartError(
                    "\(file == "-" ? "Standard input" : file) has exchanges and no settings of Charles.",
                    hint: "sluice import session FILE -o SESSION makes a session of it."
                )
            case .charlesSettings, .otherXML, nil: return
            }
        }

        /// Reads at most one byte more than is accepted.
        private func read() throws -> [UInt8] {
            let most = CharlesSettings.largestFile + 1
            guard file == "-" else { return try InputFile.contents(of: file, atMost: most, takesPipes: true) }
            return Array(try FileHandle.standardInput.read(upToCount: most) ?? Data())
        }
    }
}

extension CharlesSettings.LoneTool: ExpressibleByArgument {}

extension OutputFile {
    func writeAll(_ bytes: ByteBuffer) throws {
        try write(bytes)
        try finish()
    }
}

enum Overwriting {
    /// Throws ``StartError`` where the file exists and is not empty, unless overwriting is forced.
    static func check(_ output: String?, isForced: Bool) throws(StartError) {
        guard let output, !isForced, OutputFile.isThere(output) else { return }
        throw StartError("\(output) is there already.", hint: "--force writes over it.")
    }
}
