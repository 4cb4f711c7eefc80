package import HTTPModel
package import NIOCore

package enum Verdict: Sendable {
    /// Continue with the hook's changes.
    case forward
    /// Answer in place of the server; remaining hooks run. From a response hook: replaces the response from here on.
    case respond(LocalAnswer)
    /// Answer at once without further hooks. Block lists use this.
    case refuse(LocalAnswer)
    /// Cut the connection to the client without an answer; no further hook is asked.
    case drop
    /// Fail the exchange like a network failure: record this failure and close the client's connection.
    case fail(ExchangeFailure)
    /// Hold the message before it passes.
    case pause(Pause)
    /// Hold the message while blocking work runs on another thread; the outcome's verdict then replaces the hook's. A
    /// part is held until its work is done, which gives back-pressure.
    case perform(any BlockingWork)
}

/// The way in which a message is held.
package enum Pause: Sendable {
    /// Until a moment on the event loop's clock, at which the hook is asked once more. Only from head hooks,
    /// and from their work.
    case again(at: NIODeadline)
    /// Until somebody decides: a breakpoint. Only from head and whole-body hooks.
    case decision(HoldLimit?)
}

/// A time limit for a held message, and the decision that counts after it.
package struct HoldLimit: Sendable {
    package var after: TimeAmount
    package var resolution: HoldResolution

    package init(after: TimeAmount, resolution: HoldResolution) {
        self.after = after
        self.resolution = resolution
    }
}

/// Work that a hook may not do itself, because it may block: file access, name look-ups.
package protocol BlockingWork: Sendable {
    /// Runs the work on a thread that may block.
    func run() -> WorkOutcome
    /// Whether the work keeps a processor busy; it then gets a thread of its own, not one for file access.
    var isHeavy: Bool { get }
}

extension BlockingWork {
    package var isHeavy: Bool { false }
}

package struct WorkOutcome: Sendable {
    package var verdict: Verdict
    package var trace: [TraceEntry]

    package init(_ verdict: Verdict, trace: [TraceEntry] = []) {
        self.verdict = verdict
        self.trace = trace
    }
}
