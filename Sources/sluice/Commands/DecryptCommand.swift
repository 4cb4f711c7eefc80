import ArgumentParser
import Runner

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
