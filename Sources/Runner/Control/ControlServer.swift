import Files
import Foundation
import Jobs
import NIOCore
import NIOPosix
import ProxyServer
import Synchronization

/// The control socket of a running Sluice: of mode 0600 in a directory of mode 0700, for its own user only.
///
/// The server has its own thread, so that clients do not delay the traffic. It creates a removed socket file again.
final class ControlServer: Sendable {
    private struct Place {
        let path: String
        let listener: any Channel
        /// The identity of the socket file.
        let identity: FileFacts.Identity
    }

    private struct Watch {
        var task: RepeatedTask?
        /// The last check, which may be running.
        var look: EventLoopFuture<Void>?
        var isStopped = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let entrance: LoopEntrance
    private let dispatcher: ControlDispatcher
    private let directories: [String]
    private let process: Int32
    /// `nil` until the server listens.
    private let place = Mutex<Place?>(nil)
    private let watch = Mutex(Watch())

    var path: String { place.withLock { $0?.path ?? "" } }

    /// Listens in the first usable directory. Checks every `interval` whether the socket still exists; `onRestored` gets
    /// its path if it was created again. Throws ``StartError``; the proxy works without a socket.
    static func start(
        _ target: any ControlTarget,
        in directories: [String] = ControlPaths.directories,
        process: Int32 = getpid(),
        interval: TimeAmount = .seconds(2),
        onRestored: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> ControlServer {
        let server = ControlServer(target, directories, process)
        do {
            _ = try await server.listen()
        } catch {
            try? await server.group.shutdownGracefully()
            throw error
        }
        let loop = server.group.any()
        let task = loop.scheduleRepeatedAsyncTask(initialDelay: interval, delay: interval) { [weak server] _ in
            server?.look(on: loop, onRestored) ?? loop.makeSucceededVoidFuture()
        }
        server.watch.withLock { $0.task = task }
        return server
    }

    private init(_ target: any ControlTarget, _ directories: [String], _ process: Int32) {
        self.directories = directories
        self.process = process
        entrance = LoopEntrance(group.any())
        dispatcher = ControlDispatcher(target)
    }

    /// Returns the socket's path.
    private func listen() async throws -> String {
        let path = try ControlPaths.prepare(in: directories, process: process)
        do {
            let listener = try await ServerBootstrap(group: group)
                .childChannelOption(.maxMessagesPerRead, value: 4)
                // `echo … | nc -N -U …` closes its sending side before it gets the reply.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { [dispatcher, entrance] channel in
                    ControlServer.checkPeer(of: channel).flatMapThrowing {
                        try channel.pipeline.syncOperations.addHandler(ControlConnection(dispatcher, entrance))
                    }
                }
                .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
                .get()
            guard chmod(path, 0o600) == 0, let identity = FileFacts(link: path)?.identity else {
                let error = IOError(errnoCode: errno, reason: "chmod")
                try? await listener.close().get()
                throw error
            }
            place.withLock { $0 = Place(path: path, listener: listener, identity: identity) }
            return path
        } catch {
            throw StartError("The control socket \(path) cannot be created: \(error).")
        }
    }

    private func look(
        on loop: any EventLoop,
        _ onRestored: @escaping @Sendable (String) -> Void
    ) -> EventLoopFuture<Void>? {
        watch.withLock { watch in
            guard !watch.isStopped else { return nil }
            watch.look = loop.makeFutureWithTask { [self] in
                if let path = await restore() { onRestored(path) }
            }
            return watch.look
        }
    }

    /// If the socket file is missing or was replaced, creates it and returns its path. Connections stay open.
    private func restore() async -> String? {
        guard let old = place.withLock({ $0 }), FileFacts(link: old.path)?.identity != old.identity else { return nil }
        // Closing removes the file at the path, so the old socket is closed first.
        try? await old.listener.close().get()
        return try? await listen()
    }

    /// Waits up to a second for answers in progress.
    func stop() async {
        let look = watch.withLock { watch in
            watch.isStopped = true
            watch.task?.cancel()
            return watch.look
        }
        // The check may be restoring the socket; the new socket is then closed below.
        try? await look?.get()
        if let place = place.withLock({ $0 }) {
            try? await place.listener.close().get()
            unlink(place.path)
        }
        let deadline = ContinuousClock.now + .seconds(1)
        while dispatcher.inProgress.load(ordering: .relaxed) > 0, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        entrance.shut()
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

    /// Fails for clients of other users, which the directory's mode should exclude; root may connect.
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
