import ArgumentParser
import CharlesFiles
import Files
import Formats
import Foundation
import Jobs
import NIOCore
import Rules
import Tools

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import other programs' recordings or settings.",
        subcommands: [Session.self, Charles.self]
    )

    struct Charles: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "charles",
            abstract: "Make a rule profile of Charles' settings.",
            discussion: """
                  sluice import charles settings.xml -o profile.yaml
                  sluice import charles settings.xml --remap-path 'C:\\mocks=mocks' -o profile.yaml

                FILE is an export of Tools > Import/Export Settings or of one tool, or Charles' own settings file. Keys, certificates \
                and passwords are not read. Each rule is reported as imported, approximated or skipped, with the reason.

                Exit codes: 0 the profile has rules, 1 no rule or the file cannot be read, 2 wrong usage.
                """
        )

        @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String

        @Option(help: "The tool of an export that does not name it.") var `as`: CharlesImport.LoneTool?
        @Option(help: .value("old=new", "Where files of Map Local are now; repeatable.")) var remapPath: [String] = []
        @Option(name: .shortAndLong, help: "The profile to write. (default: standard output)", completion: .profile)
        var output: String?
        @Flag(help: "Overwrite an existing profile.") var force = false

        func validate() throws {
            for argument in remapPath where CharlesImport.PathChange(argument) == nil {
                throw ValidationError("--remap-path takes OLD=NEW, not '\(argument)'.")
            }
        }

        func run() throws {
            // An existing profile may have the user's edits, so it is overwritten only with --force.
            try OutputPlace.check(output, reading: file, calling: "the file of Charles")
            try Overwriting.check(output, isForced: force)
            let bytes = try read()
            try checkForExchanges(bytes)
            let name = file == "-" ? "standard input" : (file as NSString).lastPathComponent
            let profile: CharlesImport
            do throws(CharlesError) {
                let paths = remapPath.compactMap(CharlesImport.PathChange.init)
                profile = try CharlesImport(bytes, as: `as`, source: name, file: output ?? "profile.yaml", paths: paths)
            } catch {
                let place = file == "-" ? name : file
                throw StartError("\(place):\(error)", isUsage: error.needsArgument, isPositioned: true)
            }
            StandardStreams.error("\(profile.report)\n")
            guard profile.isUsable else { throw StartError("\(name) has no rule that Sluice supports.") }
            try OutputFile(output).writeAll(.init(string: profile.text))
        }

        /// Throws if the file has exchanges instead of settings.
        private func checkForExchanges(_ bytes: [UInt8]) throws(StartError) {
            let name = file == "-" ? "Standard input" : file
            let hint = "To import exchanges: sluice import session FILE -o SESSION"
            guard !bytes.starts(with: "SQLite format 3".utf8) else {
                throw StartError("\(name) is a session, not settings of Charles.", hint: hint)
            }
            switch ArchiveFormat(beginning: Array(bytes.prefix(ArchiveFormat.tellingBytes))) {
            case .unread(let format):
                throw StartError("\(name) is \(format.title).", hint: format.hint)
            case .har, .charlesJSON, .charlesXML, .mitmproxy, .zip, .charlesZip, .fiddlerZip, .gzip, .curl:
                throw StartError("\(name) has exchanges, not settings of Charles.", hint: hint)
            case .charlesSettings, .otherXML, nil: return
            }
        }

        /// Reads one byte more than is accepted, at most.
        private func read() throws -> [UInt8] {
            let most = CharlesImport.largestFile + 1
            guard file == "-" else { return try InputFile.contents(of: file, atMost: most, takesPipes: true) }
            return Array(try FileHandle.standardInput.read(upToCount: most) ?? Data())
        }
    }
}

extension CharlesImport.LoneTool: ExpressibleByArgument {}

extension OutputFile {
    func writeAll(_ bytes: ByteBuffer) throws {
        try write(bytes)
        try finish()
    }
}

enum Overwriting {
    /// Throws ``StartError`` if the file exists, is not empty and may not be overwritten.
    static func check(_ output: String?, isForced: Bool) throws(StartError) {
        guard let output, !isForced, OutputFile.isThere(output) else { return }
        throw StartError("\(output) exists.", hint: "--force overwrites it.")
    }
}
