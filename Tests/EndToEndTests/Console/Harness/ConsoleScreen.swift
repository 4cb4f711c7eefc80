import Foundation
import Support
import Synchronization
import Terminal

/// A program on a terminal of its own, and a user who sees its screen and types.
///
/// The program is killed when nobody holds this any more.
final class ConsoleScreen: Sendable {
    /// What is shared with the thread that reads.
    private final class Output: Sendable {
        struct State {
            /// What has been written, half a frame too.
            private var written: VirtualScreen
            /// What a terminal shows that draws whole frames (mode 2026).
            private(set) var screen: VirtualScreen
            var bytes: [UInt8] = []
            var isOver = false
            /// Whether all is read that the program wrote before its end.
            var isDrained = false

            init(_ size: Size) {
                written = VirtualScreen(size)
                screen = written
            }

            mutating func feed(_ new: [UInt8]) {
                written.feed(new)
                bytes += new
                if !written.modes.contains(2026) { screen = written }
            }

            mutating func resize(_ size: Size) {
                written.resize(size)
                screen.resize(size)
            }
        }

        let state: Mutex<State>

        init(_ size: Size) { state = Mutex(State(size)) }
    }

    let scratch: Scratch
    private let terminal: PseudoTerminal
    private let child: ChildProgram
    private let output: Output
    private let before: [UInt8]

    /// Starts a program: `sluice` where no other is given.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - program: where it lies.
    ///   - size: the columns and rows of the terminal.
    ///   - environment: further environment variables.
    ///   - scratch: where its configuration and state lie; a new directory by default.
    /// - Throws: where it cannot be started.
    init(
        _ arguments: [String],
        program: String? = nil,
        size: Size = Size(width: 160, height: 40),
        environment: [String: String] = [:],
        scratch: Scratch? = nil
    ) throws {
        let scratch = try scratch ?? Scratch()
        self.scratch = scratch
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.lowercased().hasSuffix("_proxy") && !ConsoleScreen.ownVariables.contains($0.key)
        }
        variables.merge(SluiceProcess.environment(scratch)) { $1 }
        variables.merge(["TERM": "xterm-256color", "LANG": "C.UTF-8", "TMPDIR": scratch.path]) { $1 }
        variables.merge(environment) { $1 }
        let terminal = try PseudoTerminal(size)
        before = terminal.attributes
        let output = Output(size)
        self.terminal = terminal
        self.output = output
        let child = try ChildProgram(
            try program ?? SluiceProcess.executable(),
            arguments,
            environment: variables,
            directory: scratch.path,
            terminal: terminal.name
        )
        self.child = child
        Thread.detachNewThread {
            while !output.state.withLock({ $0.isOver }) {
                let hasEnded = child.status != nil
                let bytes = terminal.read()
                guard !bytes.isEmpty else {
                    output.state.withLock { $0.isDrained = hasEnded }
                    continue
                }
                output.state.withLock { $0.feed(bytes) }
            }
        }
    }

    deinit { output.state.withLock { $0.isOver = true } }

    /// What must not come from whoever runs the tests: where copies go, how things look, who edits.
    private static let ownVariables: Set<String> = [
        "SSLKEYLOGFILE", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY", "TMUX", "NO_COLOR", "COLORTERM",
        "COLORFGBG", "LC_ALL", "LC_CTYPE", "EDITOR", "VISUAL",
    ]

    /// How long any single wait may take, in seconds; it only decides when a test gives up.
    static let patience = 60.0

    // MARK: - Seeing

    /// The screen's text, line after line.
    var text: String { output.state.withLock { $0.screen.text } }

    /// The rows of the screen.
    var rows: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    /// The screen itself.
    var screen: VirtualScreen { output.state.withLock { $0.screen } }

    /// All that the program ever wrote.
    var written: String { String(decoding: output.state.withLock { $0.bytes }, as: UTF8.self) }

    /// Waits until a text stands on the screen.
    func wait(for text: String, within seconds: Double = ConsoleScreen.patience) async throws {
        try await wait("'\(text)' on the screen", within: seconds) { $0.contains(text) }
    }

    /// Waits until a text stands on the screen no more.
    func waitUntilGone(_ text: String, within seconds: Double = ConsoleScreen.patience) async throws {
        try await wait("no '\(text)' on the screen", within: seconds) { !$0.contains(text) }
    }

    /// Waits until one row has all of some texts, and returns it.
    @discardableResult
    func row(containing texts: String..., within seconds: Double = ConsoleScreen.patience) async throws -> String {
        var found = ""
        try await wait("a row with \(texts)", within: seconds) { screen in
            let row = screen.split(separator: "\n").first { row in texts.allSatisfy { row.contains($0) } }
            found = row.map(String.init) ?? ""
            return row != nil
        }
        return found
    }

    /// Waits until something holds of the screen's text; a failure shows the screen.
    func wait(
        _ what: String,
        within seconds: Double = ConsoleScreen.patience,
        _ condition: (String) -> Bool
    ) async throws {
        do {
            try await eventually(what, within: seconds) {
                if condition(self.text) { return true }
                guard let status = self.child.status else { return false }
                // What it wrote before it ended may still be in progress.
                let end = ContinuousClock.now + .seconds(1)
                while ContinuousClock.now < end {
                    if condition(self.text) { return true }
                    try await Task.sleep(for: .milliseconds(5))
                }
                throw Program.ProgramError(description: "the program ended with \(status) before there was \(what)")
            }
        } catch {
            throw Program.ProgramError(description: "\(error)\n\(framed)")
        }
    }

    /// How many looks in a row must find the same screen, and how many where a key seems to change nothing.
    private static let (sameLooks, idleLooks) = (30, 120)

    /// Waits until a key has changed the screen and the screen stays; one that changes nothing is given up soon.
    func settle(from before: String) async throws {
        var (last, same) = (before, 0)
        try await wait("a screen that stays") { now in
            same = now == last ? same + 1 : 0
            last = now
            return same >= (now == before ? Self.idleLooks : Self.sameLooks)
        }
    }

    private var framed: String {
        let line = String(repeating: "-", count: screen.size.width)
        return "\(line)\n\(text)\n\(line)"
    }

    // MARK: - Doing

    /// Types keys, then waits for what they bring about where a text is given.
    func send(_ keys: String, waitFor text: String? = nil) async throws {
        terminal.write(Array(keys.utf8))
        if let text { try await wait(for: text) }
    }

    /// Answers a question as somebody does who has read it.
    func answer(_ key: String, waitFor text: String? = nil) async throws {
        try await Task.sleep(for: .milliseconds(600))
        try await send(key, waitFor: text)
    }

    /// Presses Escape alone and waits until what it closes is gone, so that no other key seems to belong to it.
    func escape(closing text: String) async throws {
        terminal.write([0x1B])
        try await waitUntilGone(text)
    }

    /// Closes the exchange that is open beside the list: the first Escape goes back to the list.
    func closeDetail(with text: String) async throws {
        try await send("\u{1B}", waitFor: "space mark")
        try await escape(closing: text)
    }

    /// Presses a button of the mouse, or turns its wheel, at a column and a row counted from 0.
    func mouse(_ button: Mouse, x: Int, y: Int) {
        let end = button == .release ? "m" : "M"
        terminal.write(Array("\u{1B}[<\(button.rawValue);\(x + 1);\(y + 1)\(end)".utf8))
    }

    /// What a mouse reports.
    enum Mouse: Int {
        case press = 0
        case drag = 32
        case wheelUp = 64
        case wheelDown = 65
        case release = 3
    }

    /// Changes the terminal's size.
    func resize(_ width: Int, _ height: Int) {
        let size = Size(width: width, height: height)
        output.state.withLock {
            $0.resize(size)
            terminal.resize(size)
        }
    }

    // MARK: - The process

    /// The exit status; `nil` while the program runs.
    var status: Int32? { child.status }

    func signal(_ number: Int32) { child.signal(number) }

    /// Whether the terminal is as it was before the program: lines edited and echoed, the screen given back.
    var isRestored: Bool {
        let screen = screen
        return terminal.attributes == before && screen.isCursorVisible
            && screen.modes.isDisjoint(with: [1049, 1002, 1006, 2004, 1004])
    }

    /// Waits for the end, and for the last bytes on the screen.
    ///
    /// - Returns: the exit status, negative for a signal.
    /// - Throws: where it does not end in time.
    @discardableResult
    func exitStatus(within seconds: Double = ConsoleScreen.patience) async throws -> Int32 {
        do {
            try await eventually("the program ends", within: seconds) {
                self.child.status != nil && self.output.state.withLock { $0.isDrained }
            }
        } catch {
            throw Program.ProgramError(description: "\(error)\n\(framed)")
        }
        return child.status ?? -1
    }
}

/// Keys as a terminal sends them.
enum Keys {
    static let enter = "\r"
    static let tab = "\t"
    static let up = "\u{1B}[A"
    static let down = "\u{1B}[B"
    static let home = "\u{1B}[H"
    static let end = "\u{1B}[F"
    static let clearLine = "\u{15}"

    /// A letter with Control.
    static func control(_ letter: Character) -> String {
        String(Character(Unicode.Scalar((letter.asciiValue ?? 0) & 0x1F)))
    }
}
