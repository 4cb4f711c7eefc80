import ArgumentParser
import HTTPModel
import Jobs
import Rules
import Runner
import Tools

struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Retry decryption of a host that is passed through.",
        discussion: """
              sluice decrypt api.example.com

            A host is passed through unread after a client has refused Sluice's certificate for it twice. Sluice tries again after \
            ten minutes, and after twice as long each time it is refused again; this command makes it try at the next connection.
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: "The host, or host:port.") var host: String

    func run() async throws { StandardStreams.out(try await options.target().decrypt(host) + "\n") }
}

struct PassCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pass",
        abstract: "Stop decrypting a host.",
        discussion: """
              sluice pass bank.example.com

            From its next connection on, the host is not decrypted. It is added to 'intercept: except' of the rules in force; ctrl-s \
            in the console saves them to the profile's file. Open connections stay as they are.
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: "The host, or host:port.") var host: String

    func run() async throws {
        let target = try options.target()
        let inForce = try await target.profile()
        let text = inForce.profiles.last ?? ProfileSource(file: "sluice-rules.yaml", text: "")
        var profile = EditableProfile(text: text.text, file: text.file)
        do {
            try profile.exclude(host)
        } catch {
            throw StartError("\(host) cannot be passed through: \(error)")
        }
        let new = ProfileSource(file: text.file, text: profile.text)
        _ = try await target.applyProfile([new], madeFrom: inForce.rules)
        StandardStreams.out("\(host) is passed through unread from its next connection on.\n")
    }
}
