import Dispatch

/// A way to ask a running Sluice and to steer it: one in this process, or another one over its control socket.
package struct Steering: Sendable {
    private let send: @Sendable (ControlRequest) async throws -> ControlReply

    /// Steers a Sluice of this process.
    package init(_ target: any ControlTarget) {
        let dispatcher = ControlDispatcher(target)
        send = { try await dispatcher.answer($0) }
    }

    /// Steers a Sluice of another process.
    package init(_ client: ControlClient) {
        // The socket is waited for on a thread that nothing else needs.
        let queue = DispatchQueue(label: "sluice.steering")
        send = { request in
            try await withCheckedThrowingContinuation { (answer: CheckedContinuation<ControlReply, any Error>) in
                queue.async { answer.resume(with: Result { try Steering.reply(of: client, to: request) }) }
            }
        }
    }

    private static func reply(of client: ControlClient, to request: ControlRequest) throws -> ControlReply {
        do {
            return try client.reply(to: request)
        } catch  where error.isGone {
            throw ControlFailure("The proxy has ended.")
        }
    }

    /// Asks something.
    ///
    /// - Returns: the reply; its `isOK` is true.
    /// - Throws: ``ControlFailure`` or ``StartFailure`` where it was refused, or nobody answers.
    package func ask(_ request: ControlRequest) async throws -> ControlReply {
        let reply = try await send(request)
        guard reply.isOK else {
            throw ControlFailure(reply.error ?? "Sluice refused.", hint: reply.hint ?? "", conflict: reply.conflict)
        }
        return reply
    }
}
