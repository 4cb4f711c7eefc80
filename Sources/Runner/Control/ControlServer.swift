import Foundation
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The control socket of a running Sluice: local, of mode 0600 in a directory of mode 0700, for its own user only.
///
/// It has a thread of its own, so that nothing a client does takes time from the traffic.
package final class ControlServer: Sendable {
    package let path: String
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let dispatcher: ControlDispatcher

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - target: what clients may ask and steer.
    ///   - directories: where the socket may be; the first one that will do is taken.
    /// - Returns: the server.
    /// - Throws: ``StartFailure`` where there can be no socket; the proxy can do without one.
    package static func start(
        _ target: any ControlTarget,
        in directories: [String] = ControlPaths.directories
    ) async throws -> ControlServer {
        try await start(target, in: directories, process: getpid())
    }

    /// The same under the name of another process, so that one can have several.
    static func start(
        _ target: any ControlTarget,
        in directories: [String],
        process: Int32
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
            return ControlServer(path, group, listener, dispatcher)
        } catch {
            try? await group.shutdownGracefully()
            throw StartFailure("There can be no control socket at \(path): \(error).")
        }
    }

    private init(
        _ path: String,
        _ group: MultiThreadedEventLoopGroup,
        _ listener: any Channel,
        _ dispatcher: ControlDispatcher
    ) {
        self.path = path
        self.group = group
        self.listener = listener
        self.dispatcher = dispatcher
    }

    /// Stops listening, lets what is being done come to its end for a moment, cuts the clients off, and removes the
    /// socket.
    package func stop() async {
        try? await listener.close().get()
        unlink(path)
        let deadline = ContinuousClock.now + .seconds(1)
        while dispatcher.inProgress.load(ordering: .relaxed) > 0, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        try? await group.shutdownGracefully()
    }

    private struct Stranger: Error {}

    #if os(Linux)
    /// `struct ucred`, which the C library shows only to those who ask for all of GNU.
    private struct Credentials {
        var process: pid_t
        var user: uid_t
        var group: gid_t
    }
    #endif

    /// Fails for a client that is another user's, should one get past the directory's mode.
    private static func checkPeer(of channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(Stranger())
        }
        let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        return credentials.flatMapThrowing { peer in
            guard peer.user == geteuid() || peer.user == 0 else { throw Stranger() }
        }
        #else
        return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
