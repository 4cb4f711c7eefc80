import CNcurses
import Testing

@testable import Terminal

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Both ends of a pseudo-terminal.
private final class PseudoTerminal {
    let screen: Int32
    let program: Int32

    init(columns: UInt16, rows: UInt16) throws {
        var (screen, program): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(openpty(&screen, &program, nil, nil, &size) == 0)
        self.screen = screen
        self.program = program
    }

    deinit {
        close(screen)
        close(program)
    }

    /// What was written to it so far.
    func written() -> String {
        var all: [UInt8] = []
        while let bytes = Descriptors.readAvailable(screen), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    func attributes() throws -> [UInt8] {
        var attributes = termios()
        try #require(tcgetattr(program, &attributes) == 0)
        return withUnsafeBytes(of: attributes) { Array($0) }
    }
}

@Suite("The terminal of the system", .serialized)
struct SystemTerminalTests {
    private let environment = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]

    @Test("a terminal with one screen only is left empty")
    func oneScreen() throws {
        let terminfo = try #require(Terminfo(name: "linux"))
        let left = String(decoding: ScreenSequences(terminfo).leave, as: UTF8.self)
        #expect(left.contains("\u{1B}[H\u{1B}[2J"))
        let other = String(decoding: ScreenSequences(Terminfo(name: "xterm-256color")).leave, as: UTF8.self)
        #expect(!other.contains("\u{1B}[2J"))
    }

    @Test("entering takes the screen, leaving gives it back exactly, and twice is once")
    func entersAndLeaves() throws {
        let pty = try PseudoTerminal(columns: 120, rows: 40)
        let terminal = SystemTerminal(input: pty.program, output: pty.program, environment: environment)
        #expect(terminal.size == Size(width: 120, height: 40))
        #expect(terminal.capabilities.colorDepth == .palette256)
        let before = try pty.attributes()
        try terminal.enter()
        try terminal.enter()
        let entered = pty.written()
        for sequence in ["?1049h", "?25l", "?7l", "?1002h", "?1006h", "?2004h"] {
            #expect(
                entered.split(separator: "\u{1B}[\(sequence)", omittingEmptySubsequences: false).count == 2,
                "\(sequence)"
            )
        }
        #expect(try pty.attributes() != before)
        terminal.leave()
        terminal.leave()
        let left = pty.written()
        for sequence in ["?1049l", "?25h", "?7h", "?1002l", "?1006l", "?2004l", "0m"] {
            #expect(left.contains("\u{1B}[\(sequence)"), "\(sequence)")
        }
        #expect(try pty.attributes() == before)
        try terminal.enter()
        #expect(!pty.written().isEmpty)
        terminal.leave()
    }

    @Test("input is raw: control characters arrive as bytes, and nothing is echoed")
    func readsRaw() throws {
        let pty = try PseudoTerminal(columns: 80, rows: 24)
        let terminal = SystemTerminal(input: pty.program, output: pty.program, environment: environment)
        try terminal.enter()
        defer { terminal.leave() }
        _ = pty.written()
        #expect(terminal.read() == [])
        Descriptors.writeAll([0x03, 0x1A, 0x0D, 0x61], to: pty.screen)
        #expect(EventWaiter.wait(for: [terminal.inputDescriptor], timeoutMilliseconds: 5000) == [pty.program])
        #expect(terminal.read() == [0x03, 0x1A, 0x0D, 0x61])
        #expect(pty.written() == "")
        terminal.write(Array("a\nb".utf8))
        #expect(pty.written() == "a\nb")
    }

    @Test("a size that changes is read anew, and one that is not known is that of a usual screen")
    func sizes() throws {
        let pty = try PseudoTerminal(columns: 80, rows: 24)
        let terminal = SystemTerminal(input: pty.program, output: pty.program, environment: environment)
        var size = winsize(ws_row: 5, ws_col: 20, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(pty.screen, UInt(TIOCSWINSZ), &size) == 0)
        #expect(terminal.size == Size(width: 20, height: 5))
        size = winsize()
        #expect(ioctl(pty.screen, UInt(TIOCSWINSZ), &size) == 0)
        #expect(terminal.size == Size(width: 80, height: 24))
    }

    @Test("what is no terminal is refused, and left alone")
    func noTerminal() throws {
        let pipe = try #require(Descriptors.pipe())
        defer {
            close(pipe.reading)
            close(pipe.writing)
        }
        let terminal = SystemTerminal(input: pipe.reading, output: pipe.writing, environment: environment)
        #expect(terminal.capabilities.isDumb)
        #expect(throws: TerminalError.refused(code: ENOTTY)) { try terminal.enter() }
        #expect(terminal.read() == [])
    }

    @Test("signals make a descriptor readable, and are handled as before when nobody listens")
    func signals() throws {
        var before = sigaction()
        sigaction(SIGWINCH, nil, &before)
        do {
            let signals = try TerminalSignals([.resized, .continued])
            #expect(throws: TerminalError.signalsInUse) { try TerminalSignals([.resized]) }
            #expect(signals.drain().isEmpty)
            // To the process, since threads of a pool block signals.
            for number in [SIGWINCH, SIGWINCH, SIGCONT] { kill(getpid(), number) }
            var arrived: Set<TerminalSignals.Signal> = []
            while arrived.count < 2 {
                let ready = EventWaiter.wait(for: [signals.descriptor], timeoutMilliseconds: 5000)
                try #require(ready == [signals.descriptor])
                arrived.formUnion(signals.drain())
            }
            #expect(arrived == [.resized, .continued])
        }
        var after = sigaction()
        sigaction(SIGWINCH, nil, &after)
        #expect(
            withUnsafeBytes(of: before) { Array($0.prefix(8)) } == withUnsafeBytes(of: after) { Array($0.prefix(8)) }
        )
        _ = try TerminalSignals([.resized])
    }

    @Test("a terminal that is closed does not end the process once nobody listens any more")
    func hangUp() throws {
        let former = signal(SIGHUP, SIG_DFL)
        defer { signal(SIGHUP, former) }
        do { _ = try TerminalSignals([.hangUp, .terminate]) }
        kill(getpid(), SIGHUP)
        // Were it not ignored, this process would have ended.
        let after = signal(SIGHUP, SIG_DFL)
        #expect(unsafeBitCast(after, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self))
    }

    @Test("a write larger than a pipe waits until it is read")
    func largeWrites() async throws {
        let pipe = try #require(Descriptors.pipe())
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        async let received = Self.readAll(pipe.reading, count: bytes.count)
        Descriptors.writeAll(bytes, to: pipe.writing)
        #expect(await received == bytes)
        close(pipe.writing)
        close(pipe.reading)
    }

    private static func readAll(_ descriptor: Int32, count: Int) async -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count, !EventWaiter.wait(for: [descriptor], timeoutMilliseconds: 10_000).isEmpty {
            guard let bytes = Descriptors.readAvailable(descriptor), !bytes.isEmpty else { break }
            all += bytes
        }
        return all
    }
}
