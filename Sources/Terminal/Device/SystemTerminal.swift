import Foundation

/// The terminal the program was started in.
///
/// While entered, input is raw, the alternate screen is shown without a cursor and without line wrapping, and mouse and
/// pastes are reported. ``leave()``, `exit` and crashes restore the terminal; only `SIGKILL` does not.
package final class SystemTerminal: TerminalDevice {
    package let capabilities: TerminalCapabilities
    package let inputDescriptor: Int32
    private let outputDescriptor: Int32
    private let ownsDescriptor: Bool
    private let sequences: ScreenSequences
    private var isEntered = false
    package var reportsMouse = true { didSet { if isEntered, reportsMouse != oldValue { writeMouse() } } }
    private var cooked = termios()

    /// The terminal of standard input and output; if these are not a terminal, the controlling terminal of the process.
    package convenience init() throws {
        let environment = ProcessInfo.processInfo.environment
        if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
            self.init(input: STDIN_FILENO, output: STDOUT_FILENO, environment: environment)
            return
        }
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw TerminalError.noTerminal }
        self.init(input: descriptor, output: descriptor, environment: environment, ownsDescriptor: true)
    }

    /// A terminal on open descriptors. `deinit` closes the input descriptor only if `ownsDescriptor` is set.
    package init(input: Int32, output: Int32, environment: [String: String], ownsDescriptor: Bool = false) {
        inputDescriptor = input
        outputDescriptor = output
        self.ownsDescriptor = ownsDescriptor
        capabilities = .detect(environment: environment, isTerminal: isatty(output) == 1)
        sequences = ScreenSequences(Terminfo(name: capabilities.name))
    }

    deinit {
        leave()
        if ownsDescriptor { close(inputDescriptor) }
    }

    /// 80 × 24 if the terminal does not report its size.
    package var size: Size {
        var window = winsize()
        guard ioctl(outputDescriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(width: 80, height: 24)
        }
        return Size(width: Int(window.ws_col), height: Int(window.ws_row))
    }

    package func read() -> [UInt8]? { Descriptors.readAvailable(inputDescriptor) }

    /// If the terminal has been closed, the bytes are lost.
    package func write(_ bytes: [UInt8]) { Descriptors.writeAll(bytes, to: outputDescriptor) }

    /// Throws if raw mode is not possible, and has changed nothing then.
    package func enter() throws {
        guard !isEntered else { return }
        guard tcgetattr(inputDescriptor, &cooked) == 0 else { throw TerminalError.refused(code: errno) }
        // Armed before any change, so that a crash at any moment restores the terminal.
        CrashRestoration.arm(input: inputDescriptor, output: outputDescriptor, cooked, sequences.leave)
        var raw = cooked
        cfmakeraw(&raw)
        guard Descriptors.repeated({ tcsetattr(inputDescriptor, TCSADRAIN, &raw) }) == 0 else {
            let code = errno
            CrashRestoration.disarm()
            throw TerminalError.refused(code: code)
        }
        isEntered = true
        write(sequences.enter)
        if reportsMouse { writeMouse() }
    }

    private func writeMouse() { write(reportsMouse ? ScreenSequences.mouse.on : ScreenSequences.mouse.off) }

    /// Unread input, such as mouse reports, is dropped.
    package func leave() {
        guard isEntered else { return }
        isEntered = false
        write(sequences.leave)
        _ = Descriptors.repeated { tcsetattr(inputDescriptor, TCSAFLUSH, &cooked) }
        CrashRestoration.disarm()
    }

    /// Stops the whole process group. If the terminal rejects raw mode afterwards, the normal screen stays, and the
    /// next read finds the end of input or plain lines.
    package func suspend() {
        let wasEntered = isEntered
        leave()
        var action = sigaction()
        var before = sigaction()
        action.setHandler(SIG_IGN)
        sigaction(SIGTSTP, &action, &before)
        kill(0, SIGTSTP)
        // A signal raised in this thread stops the process before the call returns; `kill` might stop it later.
        action.setHandler(SIG_DFL)
        sigaction(SIGTSTP, &action, nil)
        var stop = sigset_t()
        var mask = sigset_t()
        sigemptyset(&stop)
        sigaddset(&stop, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &stop, &mask)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        sigaction(SIGTSTP, &before, nil)
        if wasEntered { try? enter() }
    }
}
