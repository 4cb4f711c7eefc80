import ArgumentParser
import HTTPModel
import Jobs
import Rules
import Runner
import Tools

struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Retry to decrypt a host.",
        discussion: """
              sluice decrypt api.example.com

            Sluice stops decrypting a host for a client that refused its certificate twice, and tries again after ten minutes, then \
            after twice as long each time. This command makes it try at the next connection.
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

            The host is added to 'intercept: except' of the rules in force, from its next connection on; ctrl-s in the console saves \
            them to the profile's file. Open connections are not affected.
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
            throw StartError("\(host) cannot be excluded from decryption: \(error)")
        }
        let new = ProfileSource(file: text.file, text: profile.text)
        _ = try await target.applyProfile([new], madeFrom: inForce.rules)
        StandardStreams.out("\(host) is not decrypted from its next connection on.\n")
    }
}
