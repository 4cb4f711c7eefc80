import ArgumentParser
import Files
import ProxyServer
import Runner

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at this machine: the authority and who trusts it, ports, terminal, proxies, disk, clock.",
        discussion: """
            Each line begins with 'ok', 'note' (works otherwise than one may expect) or 'problem' (stops Sluice), and is \
            followed by a command that mends it, where there is one. Nothing is changed.

            Exit codes: 0 nothing stops Sluice, 1 something does, 2 wrong usage.
            """
    )

    @Option(help: .value("host:port", "Where Sluice is to listen.")) var listen = "127.0.0.1:8080"
    @Flag(help: "Print one JSON object for each line: level, about, text, mend.") var json = false

    func validate() throws { _ = try place() }

    func run() async throws {
        let place = try place()
        let findings = await Doctor(host: place.host, port: place.port).findings()
        try OutputFile(nil).write(json ? findings.json() : findings.lines)
        if findings.hasProblems { throw ExitCode(1) }
    }

    private func place() throws -> (host: String, port: Int) {
        guard listen.contains(":"), let (host, port) = Listener.place(listen) else {
            throw ValidationError("--listen takes host:port, for example 127.0.0.1:8080; not '\(listen)'.")
        }
        return (host ?? "127.0.0.1", port)
    }
}
