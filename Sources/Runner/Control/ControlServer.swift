import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The control socket of a running Sluice: local, of mode 0600 in a directory of mode 0700, for its own user only.
///
/// It has a thread of its own, so that no client takes time from the traffic.
struct ControlServer: Sendable {
    let path: String
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let dispatcher: ControlDispatcher

    /// Listens in the first directory that can have the socket, named by `process`: this one unless a test says
    /// otherwise.
    ///
    /// Throws ``StartError`` where no directory can; the proxy works without.
    static func start(
        _ target: any ControlTarget,
        in directories: [String] = ControlPaths.directories,
        process: Int32 = getpid()
    ) async throws -> ControlServer {
        let path = try ControlPaths.prepare(in: directories, process: process)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let dispatcher = ControlDispatcher(target)
        do {
            let listener = try await ServerBootstrap(group: group)
                .childChannelOption(.maxMessagesPerRead, value: 4)
                // `echo … | nc -N -U …` ends its side before the reply comes.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    ControlServer.checkPeer(of: channel).flatMapThrowing {
                        try channel.pipeline.syncOperations.addHandler(ControlConnection(dispatcher))
                    }
                }
                .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
                .get()
            guard chmod(path, 0o600) == 0 else { throw IOError(errnoCode: errno, reason: "chmod") }
            return ControlServer(path: path, group: group, listener: listener, dispatcher: dispatcher)
        } catch {
            try? await group.shutdownGracefully()
            throw StartError("There can be no control socket at \(path): \(error).")
        }
    }

    /// Stops listening, removes the socket, waits up to a second for the answers under way, and closes the connections.
    func stop() async {
        try? await listener.close().get()
        unlink(path)
        let deadline = ContinuousClock.now + .seconds(1)
        while dispatcher.inProgress.load(ordering: .relaxed) > 0, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        try? await group.shutdownGracefully()
    }

    private struct OtherUser: Error {}

    #if os(Linux)
    /// `struct ucred`, which the C library declares only under `_GNU_SOURCE`.
    private struct Credentials {
        var process: pid_t
        var user: uid_t
        var group: gid_t
    }
    #endif

    /// Fails for another user's client, which the directory's mode should have kept out; root may connect.
    private static func checkPeer(of channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(OtherUser())
        }
        let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        return credentials.flatMapThrowing { peer in
            guard peer.user == geteuid() || peer.user == 0 else { throw OtherUser() }
        }
        #else
        return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
