import ArgumentParser
import HTTPModel
import Rules
import Runner
import Tools

struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypt a host again whose clients refused the certificate.",
        discussion: """
            A client that refuses Sluice's certificate for a host twice is passed through unread there, so that it \
            works. That is tried again after ten minutes, and after twice as long each time it is refused again. This \
            command has the next connection of every client to the host decrypted.
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: "The host, or host:port.") var host: String

    func run() async throws { StandardStreams.out(try await options.target().decrypt(host) + "\n") }
}

struct PassCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pass",
        abstract: "Pass a host through unread from its next connection on.",
        discussion: """
            The host is added to 'intercept: except' of the rules in force; profile.save of the control socket, or ctrl-s \
            in the console, keeps it in the profile's file. Open connections stay as they are.
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
