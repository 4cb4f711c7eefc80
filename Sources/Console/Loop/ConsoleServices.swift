package import Runner

/// A session, and the proxy behind it, where there is one.
package struct ConsoleServices: Sendable {
    /// The session's file; `nil` where nothing is recorded.
    package var session: String?
    /// The archive that the session was read from; `nil` where there is none.
    package var archive: String?
    package var control: (any ControlTarget)?
    /// Changes the session where no proxy does; `nil` where it is only read.
    package var edits: (any SessionEdits)?
    /// Brings exchanges of other files into the session; `nil` where nothing can be added to it.
    package var imports: (any SessionImports)?
    /// `nil` where no request can be sent.
    package var sender: RequestSender?
    /// Grows whenever the session has changed; `nil` where the session must be polled.
    package var revision: (@Sendable () -> Int)?
    package var authorityPath = ""
    /// How to point clients at the proxy and let them trust it.
    package var trustHelp: [TrustHelp.Line] = []
    /// What the proxy says unasked: a profile that was read again, a recording that stopped.
    package var remarks = DeferredOutput()
    /// Runs beside the console until it ends.
    package var background: (@Sendable () async -> Void)?

    package init(session: String?, archive: String? = nil) { (self.session, self.archive) = (session, archive) }
}
