import ArgumentParser
import CharlesFiles
import Files
import NIOCore
import Rules
import Runner
import Tools

struct ProfileExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write profiles in another program's form.",
        discussion: """
            With --charles: a settings file for Charles (Tools > Import/Export Settings), which Proxyman reads too. What \
            Charles has no words for is reported rule by rule, and left out.
            """
    )

    @Flag(help: "Write Charles' settings XML.") var charles = false
    @Argument(help: "The profiles, in the order in which their rules stand.", completion: .profile) var files: [String]
    @Option(name: .shortAndLong, help: "The file to write. (default: standard output)", completion: .file())
    var output: String?
    @Flag(help: "Write over a file that is there.") var force = false

    func validate() throws {
        if !charles { throw ValidationError("Say in which form: --charles.") }
    }

    func run() throws {
        for file in files { try OutputPlace.check(output, reading: file, calling: "the profile") }
        try Overwriting.check(output, isForced: force)
        let export = try CharlesExport(RuleProfile.load(paths: files, takesPipes: true))
        StandardStreams.error("\(export.report)\n")
        guard export.isUsable else {
            throw StartError("Nothing in the profile has a form that Charles knows; nothing was written.")
        }
        try OutputFile(output).writeAll(.init(string: export.xml))
    }
}
