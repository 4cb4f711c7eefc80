import Foundation
import Synchronization

/// Restores the terminal at a crash, and when the program calls `exit`.
///
/// The signal handler uses only memory that was prepared beforehand and is never freed. The handler writes a sequence,
/// sets the terminal's attributes, and raises the signal again with the previous action: the default action, which ends
/// the process and leaves a core, or the action of the Swift runtime, which prints a backtrace first. If the handler
/// returns, the fault occurs again, so it ends the process in both cases.
enum CrashRestoration {
    private struct Record {
        var input: Int32
        var output: Int32
        var attributes: termios
        var sequence: UnsafeMutableBufferPointer<UInt8>
        var length: Int
    }

    private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT]

    /// Whether the record is complete, and there is a terminal to restore.
    private static let isArmed = Atomic<Bool>(false)

    private static let capacity = 512

    /// SAFETY: only the thread that enters the terminal writes the record, while it is not armed. Only the thread that
    /// resets `isArmed` reads the record. Its memory is never freed.
    nonisolated(unsafe) private static let record: UnsafeMutablePointer<Record> = {  // SAFETY: see above
        let record = UnsafeMutablePointer<Record>.allocate(capacity: 1)
        record.initialize(
            to: Record(input: -1, output: -1, attributes: termios(), sequence: .allocate(capacity: capacity), length: 0)
        )
        return record
    }()

    /// The previous actions, indexed by the signal's number.
    ///
    /// SAFETY: `isInstalled` writes each of them before the handler that reads it can run.
    nonisolated(unsafe) private static let actionsBefore: UnsafeMutablePointer<sigaction> = {  // SAFETY: see above
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 64)
        actions.initialize(repeating: sigaction(), count: 64)
        return actions
    }()

    private static let isInstalled: Bool = {
        prepareStack()
        for number in signals {
            var action = sigaction()
            action.setHandler { CrashRestoration.crashed($0) }
            action.sa_flags = Int32(truncatingIfNeeded: SA_ONSTACK)
            sigemptyset(&action.sa_mask)
            sigaction(number, &action, actionsBefore + Int(number))
        }
        atexit { CrashRestoration.restore() }
        return true
    }()

    /// A later crash or exit restores this terminal, instead of the terminal of an earlier call.
    static func arm(input: Int32, output: Int32, _ attributes: termios, _ sequence: [UInt8]) {
        disarm()
        guard isInstalled else { return }
        record.pointee.input = input
        record.pointee.output = output
        record.pointee.attributes = attributes
        record.pointee.length = min(sequence.count, capacity)
        for (index, byte) in sequence.prefix(capacity).enumerated() { record.pointee.sequence[index] = byte }
        isArmed.store(true, ordering: .sequentiallyConsistent)
    }

    static func disarm() { isArmed.store(false, ordering: .sequentiallyConsistent) }

    /// Runs in a signal handler, so it must not allocate or lock.
    private static func restore() {
        guard isArmed.exchange(false, ordering: .sequentiallyConsistent) else { return }
        _ = write(record.pointee.output, record.pointee.sequence.baseAddress, record.pointee.length)
        tcsetattr(record.pointee.input, TCSANOW, &record.pointee.attributes)
    }

    private static func crashed(_ number: Int32) {
        restore()
        sigaction(number, actionsBefore + Int(number), nil)
        raise(number)
    }

    /// A separate stack for the handlers on this thread, so that a stack overflow can be handled too.
    private static func prepareStack() {
        var present = stack_t()
        guard sigaltstack(nil, &present) == 0, present.ss_flags & Int32(SS_DISABLE) != 0 else { return }
        let size = 65_536
        var stack = stack_t()
        stack.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        stack.ss_size = size
        sigaltstack(&stack, nil)
    }
}
