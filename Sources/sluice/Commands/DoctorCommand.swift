import ArgumentParser
import Diagnosis
import Files
import ProxyServer

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine: trust, ports, terminal, disk.",
        discussion: """
              sluice doctor
              sluice doctor --listen 127.0.0.1:9090

            Each line begins with 'ok', 'note' (may surprise you) or 'problem' (stops Sluice); 'fix:' is a command to solve it. \
            Nothing is changed.

            Exit codes: 0 nothing stops Sluice, 1 something does, 2 wrong usage.
            """
    )

    @Option(name: [.customShort("p"), .long], help: .value("[host:]port", "The address to check."))
    var listen = "127.0.0.1:8080"
    @Flag(help: "Print one JSON object for each line: level, about, text, fix.") var json = false

    func validate() throws { _ = try place() }

    func run() async throws {
        let place = try place()
        let findings = await Doctor(host: place.host, port: place.port).findings()
        try OutputFile(nil).write(json ? findings.json() : findings.lines)
        if findings.hasProblems { throw ExitCode(1) }
    }

    private func place() throws -> (host: String, port: Int) {
        guard let (host, port) = Listener.place(listen) else {
            throw ValidationError("--listen takes a port or host:port, such as 127.0.0.1:8080; not '\(listen)'.")
        }
        return (host ?? "127.0.0.1", port)
    }
}
