import ArgumentParser
import Foundation
import Jobs
import NIOCore
import Rules
import Runner
import Tools

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Check, test, show and explain rule profiles.",
        subcommands: [ProfileHelpCommand.self, ProfileCheck.self, ProfileTest.self, ProfileShow.self, ProfileWhy.self]
    )
}

struct ProfileHelpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help",
        abstract: "Explain the keys of profiles.",
        discussion: """
              sluice profile help throttle
              sluice profile help locations
            """
    )

    @Argument(help: "A key such as 'rewrite.rules', or a topic. (default: list all)", completion: .profileKey)
    var key: String?

    func run() throws {
        do throws(ProfileHelp.UnknownKeyError) {
            StandardStreams.out(try ProfileHelp.text(for: key, of: .standard))
        } catch {
            throw StartError(error.description, hint: "sluice profile help lists all keys.", isUsage: true)
        }
    }
}

struct ProfileCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check profiles; errors are file:line:column: message.",
        discussion: """
              sluice profile check rules.yaml
              sluice profile check rules.yaml --against last
              generate-rules | sluice profile check -

            Probable mistakes are warnings.

            Exit codes: 0 there is no error, 1 there is one (or, with --strict, a warning), 2 wrong usage.
            """
    )

    @Argument(help: .value("file", "The profiles, read as one; - is standard input."), completion: .profile)
    var files: [String]
    @Option(help: .value("file", "Count the requests of a session that each rule matches."), completion: .session)
    var against: String?
    @Flag(help: "Exit with status 1 for warnings, too.") var strict = false
    @OptionGroup var variables: VariableOptions

    func run() throws {
        let profile = try RuleProfile.load(paths: files, takesPipes: true)
        for lint in profile.lints { StandardStreams.error("\(lint)\n") }
        for source in profile.variableSources { StandardStreams.out("reads \(source)\n") }
        // Files that would stop a start are errors of the profile, too.
        let problems = ServerAccess.problems(in: profile)
        for problem in problems { StandardStreams.error("\(problem)\n") }
        if !problems.isEmpty { throw ExitCode(1) }
        if let against {
            var usage = RuleUsage(profile)
            try usage.add(archive: against)
            StandardStreams.out(usage.text)
        } else if profile.lints.isEmpty {
            StandardStreams.out("\(profile.summary): no errors.\n")
        }
        if strict, !profile.lints.isEmpty { throw ExitCode(1) }
    }
}

struct ProfileTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the tests of profiles ('expect'), without a network.",
        discussion: """
              sluice profile test Profiles/*.yaml

            Prints TAP, version 14. Each file is a profile of its own. 'sluice profile help expect' explains the tests.

            Exit codes: 0 all tests pass, 1 one fails or a file has an error, 2 wrong usage.
            """
    )

    @Argument(help: .value("file", "The profiles."), completion: .profile) var files: [String]
    @OptionGroup var options: JUnitOptions
    @OptionGroup var variables: VariableOptions

    func run() throws {
        var (report, junit) = (TAPReport(), JUnitReport())
        for file in files {
            do throws(ProfileError) {
                for result in try RuleProfile.load(paths: [file], takesPipes: true).dryRun() {
                    report.add(result)
                    junit.add(result)
                }
            } catch {
                report.add(broken: file, error.issues)
                junit.add(broken: file, error.issues)
            }
        }
        StandardStreams.out(report.text)
        try options.write(junit, suite: "Sluice profile tests")
        if report.failures > 0 { throw ExitCode(1) }
    }
}

struct ProfileShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the tools in the order in which they act, and their rules."
    )

    @Argument(help: .value("file", "The profiles, read as one."), completion: .profile) var files: [String]
    @Flag(help: "Print a JSON object.") var json = false
    @OptionGroup var variables: VariableOptions

    func run() throws {
        let profile = try RuleProfile.load(paths: files, takesPipes: true)
        StandardStreams.out(json ? profile.listingJSON : profile.listing)
    }
}

struct ProfileWhy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain what each rule would do to a request, or why not.",
        discussion: """
              sluice profile why p.yaml GET https://api.example.com/v1
              sluice profile why p.yaml POST https://api.example.com/login --body a=1

            Nothing is sent. The assumed answer is 200 without a body; --answer and its options change it.
            """
    )

    @Argument(help: .value("file", "The profile."), completion: .profile) var file: String
    @Argument(help: "The request's method.") var method: String
    @Argument(help: "The request's URL; host:port after CONNECT.") var url: String

    @Option(name: [.customShort("H"), .long], help: .value("name: value", "A field of the request; repeatable."))
    var header: [String] = []
    @Option(help: "The request's body.") var body: String?
    @Option(help: .value("status", "The status of the answer.")) var answer = 200
    @Option(help: .value("name: value", "A field of the answer; repeatable.")) var answerHeader: [String] = []
    @Option(help: "The answer's body.") var answerBody: String?
    @Flag(help: "Show all rules, including those for other hosts.") var all = false
    @OptionGroup var variables: VariableOptions

    func validate() throws {
        guard (200...999).contains(answer) else { throw ValidationError("--answer takes a status from 200 to 999.") }
    }

    func run() throws {
        guard var request = DryRunRequest(method: method, target: url) else {
            throw ValidationError("'\(method) \(url)' is not a METHOD and a URL such as https://example.com/.")
        }
        request.fields = try header.map(ProfileWhy.field)
        request.body = body.map { ByteBuffer(string: $0) }
        let response = DryRunResponse(
            status: answer,
            fields: try answerHeader.map(ProfileWhy.field),
            body: answerBody.map { ByteBuffer(string: $0) }
        )
        let profile = try RuleProfile.load(paths: [file], takesPipes: true)
        StandardStreams.out(request.explained(by: profile, answered: response).text(isWhole: all))
    }

    private static func field(_ text: String) throws -> (name: String, value: String) {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex, !text.contains(where: \.isNewline) else {
            throw ValidationError("'\(text)' is not a header field; write 'Name: value'.")
        }
        let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return (String(text[..<colon]), value)
    }
}
