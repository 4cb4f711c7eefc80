import ArgumentParser
import Diagnosis
import Files

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

    func validate() throws { _ = try ListenerOptions.place(listen) }

    func run() async throws {
        let (host, port) = try ListenerOptions.place(listen)
        let findings = await Doctor(host: host ?? "127.0.0.1", port: port).findings()
        try OutputFile(nil).write(json ? findings.json() : findings.lines)
        if findings.hasProblems { throw ExitCode(1) }
    }
}
