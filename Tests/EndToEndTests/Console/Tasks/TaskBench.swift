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
    /// Clients whose messages are held.
    private let clients = Mutex<[Program]>([])

    init() async throws {
        nginx = try await ReportingNginx()
        try nginx.put("user.json", Self.user)
        try nginx.put("needle.json", #"{"what":"a needle"}"#)
        let scratch = try Scratch()
        let pager = try scratch.write(
            "pager",
            "#!/bin/sh\nprintf '\\033[2J\\033[H'\ncat \"$1\"\ncp \"$1\" '\(scratch.path("paged"))'\nread answer\n",
            mode: 0o755
        )
        console = try await LiveConsole(
            size: Size(width: 80, height: 24),
            environment: ["PAGER": pager],
            scratch: scratch
        )
        lines = try await LinearProcess()
    }

    static let user = #"{"name":"Ada","roles":["admin","author"],"friend":{"name":"Grace"}}"#

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

    /// Lets the responses go that the rule holds as well, once their requests have got to the server.
    func letResponsesGo() async throws {
        try await console.screen.wait(for: " response GET ")
        try await eventually("the response waits on lines") {
            lines.output.split(separator: "\n").last { $0.hasPrefix("Held ") }?.contains(", response GET ") ?? false
        }
        try await press([.key("X")])
        try lines.type("execute-all")
        try await clientsEnd { $0 == 0 }
    }

    /// Awaits the clients whose messages were held.
    func clientsEnd(_ isRight: (Int32) -> Bool) async throws {
        let waiting = clients.withLock { clients in
            defer { clients = [] }
            return clients
        }
        for client in waiting {
            let status = try await client.outcome().status
            #expect(isRight(status), "curl ended with \(status)")
        }
        try await console.screen.waitUntilGone("HELD")
    }

    /// Waits until the terminal was handed a text that begins so, for its clipboard.
    func copies(_ beginning: String) async throws {
        try await eventually("'\(beginning)' on the clipboard") {
            let command = console.screen.screen.commands.last { $0.hasPrefix("52;c;") } ?? ""
            let bytes = Data(base64Encoded: String(command.dropFirst(5))) ?? Data()
            return String(decoding: bytes, as: UTF8.self).hasPrefix(beginning)
        }
    }

    /// Presses keys as a user does, who looks before the next one; after some keys, waits for a text.
    func press(_ keys: [TaskKey], waits: [String: String] = [:]) async throws {
        for key in keys {
            let before = console.screen.text
            try await console.screen.send(key.bytes)
            if case .key(let name) = key, let text = waits[name] {
                try await console.screen.wait(for: text)
            } else if key != keys.last {
                try await console.screen.settle(from: before)
            }
        }
    }

    /// Closes what is open and goes to the newest exchange.
    func reset() async throws {
        while !isAtList {
            let before = Self.lasting(console.screen.rows)
            try await console.screen.send("\u{1B}")
            try await console.screen.wait("what Escape closes is gone") { _ in
                // What ends by itself may be gone before the key.
                isAtList || Self.lasting(console.screen.rows) != before
            }
        }
        for key in ["\\", "G", "G"] {
            let before = console.screen.text
            try await press([.key(key)])
            try await console.screen.settle(from: before)
        }
    }

    /// Whether the list has the keys and nothing is open beside it: its footer's words are there, and no title of a page.
    private var isAtList: Bool {
        let rows = console.screen.rows
        let isList = rows.last { !$0.isEmpty }?.contains("tab structure") ?? false
        return isList && !rows.contains { $0.contains("overview") }
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
