import Foundation
import Recording
import Support
import Terminal

/// The console with a proxy of its own on a free port, and the clients that go through it.
final class LiveConsole: ProxyUnderTest {
    let screen: ConsoleScreen
    let session: String
    let port: Int

    /// Opens it and waits until it listens.
    ///
    /// - Parameters:
    ///   - options: further options.
    ///   - profile: the text of a rule profile.
    ///   - size: the columns and rows of the terminal.
    ///   - environment: further environment variables.
    ///   - scratch: where everything lies; a new directory by default.
    /// - Throws: where it does not start; the error shows the screen.
    init(
        _ options: [String] = [],
        profile: String? = nil,
        size: Size = Size(width: 160, height: 40),
        environment: [String: String] = [:],
        scratch: Scratch? = nil
    ) async throws {
        let scratch = try scratch ?? Scratch()
        session = scratch.path("session.sluice")
        var arguments = ["--listen", "127.0.0.1:0", "--session", session]
        arguments += ["--upstream-ca", try await TestAuthority.shared.root] + options
        if let profile { arguments += ["--profile", try scratch.write("profile.yaml", profile)] }
        let screen = try ConsoleScreen(arguments, size: size, environment: environment, scratch: scratch)
        self.screen = screen
        var port: Int?
        try await screen.wait("an address in the status line") { text in
            port = text.firstMatch(of: /127\.0\.0\.1:(\d+) · recording/).flatMap { Int($0.1) }
            return port != nil
        }
        self.port = port ?? 0
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var scratch: Scratch { screen.scratch }
    var authority: String { scratch.path("config") + "/sluice/ca-cert.pem" }
    var errors: String { screen.text }
    /// The text of the profile's file.
    var profile: String { String(decoding: scratch.bytes("profile.yaml"), as: UTF8.self) }

    /// Asks for a path of a server and waits until the console lists the exchange as complete.
    @discardableResult
    func visit(_ nginx: ReportingNginx, _ path: String, _ options: [String] = []) async throws -> SluiceProcess.Answer {
        let answer = try await answers([options + ["https://localhost:\(nginx.secure)\(path)"]])[0]
        try await screen.row(containing: path, "\(answer.status)")
        return answer
    }

    /// Chooses a command of the palette by its title.
    func command(_ title: String) async throws {
        try await screen.send(":", waitFor: "Commands")
        try await screen.send(title, waitFor: "> \(title)")
        try await screen.send(Keys.enter)
    }

    /// Drafts a rule from the selected exchange, puts another text in its place where one is given, and applies it.
    ///
    /// - Parameters:
    ///   - letter: the tool's.
    ///   - yaml: the rule's text.
    ///   - remark: what the editor must say before the rule is applied.
    /// - Throws: where that does not come about.
    func addRule(_ letter: String, _ yaml: String? = nil, remark: String = "It would match") async throws {
        try await screen.send("a\(letter)", waitFor: "ctrl-s apply")
        if let yaml { try await replaceText(yaml) }
        try await screen.wait(for: remark)
        try await screen.send(Keys.control("s"))
        try await screen.wait(for: "added; it is active.")
    }

    /// Deletes what is in the editor and pastes something else.
    func replaceText(_ text: String) async throws {
        // To the end of the last line, then back over everything.
        try await screen.send("\u{1B}[1;5F" + String(repeating: "\u{7F}", count: 800))
        try await screen.send("\u{1B}[200~\(text)\u{1B}[201~")
        try await screen.wait(for: text.split(separator: "\n").last.map(String.init) ?? "")
    }

    /// Types over a text in the editor that is open.
    ///
    /// - Parameters:
    ///   - old: what goes.
    ///   - new: what comes.
    ///   - place: a text that only its line has; what goes by default.
    /// - Throws: where there is no such line.
    func replace(_ old: String, with new: String, at place: String? = nil) async throws {
        let row = try await screen.row(containing: place ?? old, "│")
        guard let line = row.firstMatch(of: /│ +(\d+) (.*)│/), let number = Int(line.1),
            let start = line.2.range(of: old)
        else { throw Program.ProgramError(description: "no line of an editor: \(row)") }
        let column = line.2.distance(from: line.2.startIndex, to: start.upperBound)
        let toLine = "\u{1B}[1;5H" + String(repeating: Keys.down, count: number - 1)
        let toPlace = String(repeating: "\u{1B}[C", count: column)
        try await screen.send(toLine + toPlace + String(repeating: "\u{7F}", count: old.count) + new)
        try await screen.wait(for: new)
    }
}
