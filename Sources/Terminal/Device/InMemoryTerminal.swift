#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A terminal that is only in memory: input is given to it, output is kept.
///
/// It lets a whole program be tested without a terminal; waiting for its ``inputDescriptor`` works as with a real one.
package final class RecordedTerminal: TerminalDevice {
    package var capabilities: TerminalCapabilities
    package var size: Size
    /// Readable while input waits; -1 if the process may open no more descriptors.
    package let inputDescriptor: Int32
    /// Everything written, what ``takeOutput()`` has not yet taken.
    package private(set) var output: [UInt8] = []
    /// Whether the screen is taken.
    package private(set) var isEntered = false
    /// How often it was suspended.
    package private(set) var suspensions = 0

    private let waking: Int32
    private var input: [UInt8] = []
    private var hasEnded = false

    package init(size: Size, capabilities: TerminalCapabilities = TerminalCapabilities()) {
        self.size = size
        self.capabilities = capabilities
        (inputDescriptor, waking) = Descriptors.pipe() ?? (-1, -1)
    }

    deinit {
        close(inputDescriptor)
        close(waking)
    }

    /// Lets bytes come as if typed.
    package func send(_ bytes: some Sequence<UInt8>) {
        input += bytes
        wake()
    }

    /// Lets text come as if typed.
    package func send(_ text: String) {
        send(text.utf8)
    }

    /// Ends the input: when what was sent is read, there is no more.
    package func endInput() {
        hasEnded = true
        wake()
    }

    /// What was written since the last call.
    package func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// The bytes that were sent and not yet read.
    package func read() -> [UInt8]? {
        if input.isEmpty, hasEnded { return nil }
        // An end that is still to be found keeps the descriptor readable.
        if !hasEnded { _ = Descriptors.readAvailable(inputDescriptor) }
        defer { input = [] }
        return input
    }

    /// Keeps the bytes.
    package func write(_ bytes: [UInt8]) {
        output += bytes
    }

    /// Notes that the screen is taken.
    package func enter() {
        isEntered = true
    }

    /// Notes that the screen is given back.
    package func leave() {
        isEntered = false
    }

    /// Counts it, and goes on at once.
    package func suspend() {
        suspensions += 1
    }

    private func wake() {
        Descriptors.writeAll([0], to: waking)
    }
}
