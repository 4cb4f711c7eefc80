import Foundation
import Support
import Synchronization
import Terminal
import Testing

/// A console of 80×24, one on lines, and a server: several tasks use them one after the other.
final class TaskBench: Sendable {
    let nginx: ReportingNginx
    let console: LiveConsole
    let lines: LinearProcess
    /// Clients whose messages wait.
    private let clients = Mutex<[Program]>([])

    init() async throws {
        nginx = try await ReportingNginx()
        try nginx.put("user.json", #"{"name":"Ada","roles":["admin","author"]}"#)
        try nginx.put("needle.json", #"{"what":"a needle"}"#)
        console = try await LiveConsole(size: Size(width: 80, height: 24))
        lines = try await LinearProcess()
    }

    var site: String { "https://localhost:\(nginx.secure)" }

    /// Asks for a path through both consoles, and waits until both have it.
    func visit(_ paths: String...) async throws {
        for path in paths {
            async let first = console.answers([["\(site)\(path)"]])
            async let second = lines.answers([["\(site)\(path)"]])
            let answers = try await (first[0], second[0])
            try await console.screen.row(containing: path, "\(answers.0.status)")
            try await lines.hears("localhost:\(nginx.secure)\(path), \(answers.1.status)")
        }
    }

    /// Asks for a path through both and looks at what comes.
    func check(_ path: String, _ isRight: (SluiceProcess.Answer) -> Bool) async throws {
        let answers = [try await console.answer("\(site)\(path)"), try await lines.answer("\(site)\(path)")]
        for answer in answers { #expect(isRight(answer), "\(path): \(answer.head)") }
        try await console.screen.row(containing: path, "\(answers[0].status)")
        try await lines.hears("\(path), \(answers[1].status)")
    }

    /// Asks for a path through both, which a breakpoint holds.
    func hold(_ path: String) async throws {
        for proxy in [console.url, lines.url] {
            let authority = proxy == console.url ? console.authority : lines.authority
            let client = try Program(
                "curl",
                [
                    "-sS", "--noproxy", "", "--max-time", "60", "--proxy", proxy, "--cacert", authority,
                    "\(site)\(path)",
                ],
                environment: ["HOME": console.scratch.path, "CURL_HOME": console.scratch.path]
            )
            clients.withLock { $0.append(client) }
        }
        try await console.screen.wait(for: " HELD ")
        try await lines.hears("\(path); execute")
    }

    /// Lets go what still waits, and awaits the clients.
    func letGo() async throws {
        let waiting = clients.withLock { clients in
            defer { clients = [] }
            return clients
        }
        for client in waiting {
            async let outcome = client.outcome()
            try await press([.key("X")])
            try lines.type("execute-all")
            // The rule holds the response as well.
            try await Task.sleep(for: .milliseconds(150))
            try await press([.key("X")])
            try lines.type("execute-all")
            _ = try await outcome
        }
        try await console.screen.waitUntilGone("HELD")
    }

    /// Presses keys as a user does, who looks before the next one; after some keys, waits for a text.
    func press(_ keys: [TaskKey], waits: [String: String] = [:]) async throws {
        for key in keys {
            let before = console.screen.text
            try await console.screen.send(key.bytes)
            if case .key(let name) = key, let text = waits[name] {
                try await console.screen.wait(for: text)
            } else if key != keys.last {
                try await quiet(after: before)
            }
        }
    }

    /// Waits until a screen has changed and stays; some keys change nothing.
    private func quiet(after before: String) async throws {
        var last = before
        for round in 0..<40 {
            try await Task.sleep(for: .milliseconds(15))
            let now = console.screen.text
            if now == last, now != before || round >= 6 { return }
            last = now
        }
    }

    /// Closes what is open and goes to the newest exchange.
    func reset() async throws {
        for _ in 0..<6 {
            let before = Self.lasting(console.screen.rows)
            try await console.screen.send("\u{1B}")
            try await Task.sleep(for: .milliseconds(120))
            if Self.lasting(console.screen.rows) == before { break }
        }
        try await press([.key("\\"), .key("G"), .key("G")])
    }

    /// All rows but the one with notices and rates.
    private static func lasting(_ rows: [String]) -> [String] { Array(rows.prefix(22) + rows.suffix(1)) }
}

/// A task as a user does it, by keys and by words; the keys and words are those of the table.
struct TaskStory: Sendable {
    typealias Step = @Sendable (TaskBench) async throws -> Void

    /// Its name in the table.
    let task: String
    var before: Step = { _ in }
    /// What to see after a key before the next is pressed.
    var waits: [String: String] = [:]
    /// On the screen in the end.
    let sees: String
    /// Said by the last line of words.
    let hears: String
    var after: Step = { _ in }

    func run(_ row: TaskTable.Row, on bench: TaskBench) async throws {
        try await before(bench)
        try await bench.press(row.keys, waits: waits)
        try await bench.console.screen.wait(for: sees)
        for words in row.words.dropLast() { try bench.lines.type(words) }
        if let words = row.words.last { try await bench.lines.says(words, until: hears) }
        try await after(bench)
        try await bench.reset()
    }
}
