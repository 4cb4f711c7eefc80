import Foundation
import Synchronization

/// Passes the signals that would end Sluice on to the commands that it runs.
///
/// What the terminal sends (Ctrl-C, Ctrl-\) goes to the whole process group, so the command has it already and is not
/// sent it again: many programs take a second Ctrl-C for impatience. Whatever another process sends is meant for us
/// alone as far as we know, and is passed on. Either way Sluice waits for what the command makes of it.
enum SignalRelay {
    private struct State {
        var children: [ChildProcess] = []
        /// What was done on each signal before; empty while nothing runs.
        var former: [(signal: Int32, action: sigaction)] = []
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let state = Mutex(State())

    /// The end that is read and the end that is written.
    ///
    /// The handler writes, since it must neither lock nor allocate.
    private static let pipe: (reading: Int32, writing: Int32) = {
        var ends: [Int32] = [-1, -1]
        _ = systemPipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let reading = ends[0]
        Thread.detachNewThread { passOn(from: reading) }
        return (ends[0], ends[1])
    }()

    /// Starts a command, which gets the signals from now on until ``remove(_:)``.
    static func add(_ start: () throws(ChildFailure) -> ChildProcess) throws(ChildFailure) -> ChildProcess {
        _ = pipe
        // A signal that comes while the command is being started waits for the lock, and is not lost.
        let result = state.withLock { state -> Result<ChildProcess, ChildFailure> in
            if state.children.isEmpty { state.former = takeOver() }
            do throws(ChildFailure) {
                let child = try start()
                state.children.append(child)
                return .success(child)
            } catch {
                if state.children.isEmpty { giveBack(&state.former) }
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The command is over; after the last one, signals do what they did before.
    static func remove(_ child: ChildProcess) {
        state.withLock { state in
            state.children.removeAll { $0 === child }
            if state.children.isEmpty { giveBack(&state.former) }
        }
    }

    private static func takeOver() -> [(signal: Int32, action: sigaction)] {
        var former: [(signal: Int32, action: sigaction)] = []
        for signal in signals {
            // What `nohup` and the shell's `&` have us ignore, the command shall ignore, too.
            if let action = replace(signal, by: relaying), !action.isIgnoring {
                former.append((signal, action))
            } else {
                _ = replace(signal, by: ignoring)
            }
        }
        // Without this the command's exit code could not be had, or a closed pipe would end us before the command.
        for (signal, handler) in [(SIGCHLD, SIG_DFL), (SIGPIPE, SIG_IGN)] {
            var action = sigaction()
            action.setHandler(handler)
            if let old = replace(signal, by: action) { former.append((signal, old)) }
        }
        return former
    }

    private static func giveBack(_ former: inout [(signal: Int32, action: sigaction)]) {
        waitForDelivery()
        for (signal, action) in former { _ = replace(signal, by: action) }
        former = []
    }

    /// Waits until no signal is on its way to us.
    ///
    /// The Ctrl-C that ended the command is meant for us, too, and may be delivered to us only now: to end the process,
    /// if it no longer found our handler.
    private static func waitForDelivery() {
        var ours = sigset_t()
        sigemptyset(&ours)
        for signal in signals { sigaddset(&ours, signal) }
        // Only what this thread blocks is told as pending; another thread takes it meanwhile.
        var former = sigset_t()
        pthread_sigmask(SIG_BLOCK, &ours, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        for _ in 0..<100 {
            var pending = sigset_t()
            guard sigpending(&pending) == 0, signals.contains(where: { sigismember(&pending, $0) == 1 }) else { return }
            usleep(1_000)
        }
    }

    private static func replace(_ signal: Int32, by action: sigaction) -> sigaction? {
        var action = action
        var old = sigaction()
        return sigaction(signal, &action, &old) == 0 ? old : nil
    }

    private static var ignoring: sigaction {
        var action = sigaction()
        action.setHandler(SIG_IGN)
        return action
    }

    private static var relaying: sigaction {
        var action = sigaction()
        action.setInformedHandler { signal, information, _ in
            // A terminal that goes away tells only the leader of its session, which may be us.
            guard signal == SIGHUP || information?.pointee.isFromProcess ?? true else { return }
            let before = errno
            var byte = UInt8(truncatingIfNeeded: signal)
            _ = write(SignalRelay.pipe.writing, &byte, 1)
            errno = before
        }
        action.sa_flags |= SA_RESTART
        return action
    }

    private static func passOn(from reading: Int32) {
        var byte: UInt8 = 0
        while true {
            let count = read(reading, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            let children = state.withLock { $0.children }
            for child in children { child.send(Int32(byte)) }
        }
    }
}

/// `pipe(2)`, which the property of that name hides.
private func systemPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { pipe(ends) }

extension siginfo_t {
    /// Whether a process sent the signal, not the terminal or another part of the kernel.
    fileprivate var isFromProcess: Bool {
        #if canImport(Darwin)
        si_pid != 0
        #else
        si_code <= 0
        #endif
    }
}

extension sigaction {
    #if canImport(Darwin)
    fileprivate typealias Handler = @convention(c) (Int32) -> Void
    fileprivate typealias Information = UnsafeMutablePointer<siginfo_t>?
    #else
    fileprivate typealias Handler = __sighandler_t
    fileprivate typealias Information = UnsafeMutablePointer<siginfo_t>?
    #endif

    fileprivate var isIgnoring: Bool {
        #if canImport(Darwin)
        let handler = __sigaction_u.__sa_handler
        #else
        let handler = __sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    fileprivate mutating func setHandler(_ handler: Handler?) {
        #if canImport(Darwin)
        __sigaction_u.__sa_handler = handler
        #else
        __sigaction_handler.sa_handler = handler
        #endif
    }

    fileprivate mutating func setInformedHandler(
        _ handler: @escaping @convention(c) (Int32, Information, UnsafeMutableRawPointer?) -> Void
    ) {
        sa_flags = Int32(SA_SIGINFO)
        #if canImport(Darwin)
        __sigaction_u.__sa_sigaction = handler
        #else
        __sigaction_handler.sa_sigaction = handler
        #endif
    }
}
