import Foundation
import Jobs
import Synchronization

/// Forwards the signals that would end Sluice to its commands.
///
/// The terminal sends a signal (Ctrl-C, Ctrl-\) to the whole process group, so Sluice does not forward it: many
/// programs end at once on a second Ctrl-C.
package enum SignalRelay {
    private struct State {
        var children: [ChildProcess] = []
        /// The signal actions before the first command; empty while no command runs.
        var former: [(signal: Int32, action: sigaction)] = []
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let state = Mutex(State())

    private static let pipe: SignalPipe = {
        let pipe = SignalPipe()
        Thread.detachNewThread {
            while let signal = pipe.next() {
                let children = state.withLock { $0.children }
                for child in children { child.send(signal) }
            }
        }
        return pipe
    }()

    /// Starts a command, which gets the signals until ``remove(_:)``.
    package static func add(_ start: () throws(ChildError) -> ChildProcess) throws(ChildError) -> ChildProcess {
        _ = pipe
        // A signal that arrives during the start is forwarded after it, because forwarding needs the same lock.
        let result = state.withLock { state -> Result<ChildProcess, ChildError> in
            if state.children.isEmpty { state.former = takeOver() }
            do throws(ChildError) {
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

    /// Forgets an ended command; after the last one, the former actions are restored.
    package static func remove(_ child: ChildProcess) {
        state.withLock { state in
            state.children.removeAll { $0 === child }
            if state.children.isEmpty { giveBack(&state.former) }
        }
    }

    private static func takeOver() -> [(signal: Int32, action: sigaction)] {
        var former: [(signal: Int32, action: sigaction)] = []
        for signal in signals {
            // A signal that Sluice ignores because of `nohup` or the shell's `&` is ignored by the command, too.
            if let action = replace(signal, by: relaying), !action.isIgnoring {
                former.append((signal, action))
            } else {
                _ = replace(signal, by: ignoring)
            }
        }
        // If SIGCHLD is ignored, there is no exit code. By SIGPIPE's default, a closed pipe would end Sluice.
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

    /// Waits until no signal is pending for us: the Ctrl-C that ended the command may be delivered to us only now, and
    /// would end the process without our handler.
    private static func waitForDelivery() {
        var ours = sigset_t()
        sigemptyset(&ours)
        for signal in signals { sigaddset(&ours, signal) }
        // Only a signal that this thread blocks is reported as pending; another thread receives it meanwhile.
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
            // A closed terminal sends SIGHUP only to the leader of its session, which may be us.
            guard signal == SIGHUP || information?.pointee.isFromProcess ?? true else { return }
            SignalRelay.pipe.note(signal)
        }
        action.sa_flags |= SA_RESTART
        return action
    }
}

extension siginfo_t {
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
    #else
    fileprivate typealias Handler = __sighandler_t
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
        _ handler: @escaping @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void
    ) {
        sa_flags = Int32(SA_SIGINFO)
        #if canImport(Darwin)
        __sigaction_u.__sa_sigaction = handler
        #else
        __sigaction_handler.sa_sigaction = handler
        #endif
    }
}
