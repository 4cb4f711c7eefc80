import Foundation
import NIOCore
import Synchronization
import Testing

@testable import Runner

extension RealProcessTests {
    @Suite(.enabled(if: tellsConnections)) struct BypassScanTests {
        private static let variables = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        /// Connects to the port that the argument says and keeps the connection until the other end closes it.
        private static let client =
            "import socket,sys; s=socket.create_connection(('127.0.0.1',int(sys.argv[1]))); s.recv(1)"

        /// A command with a scan of it, in which it has a variable of its own.
        private func start(
            _ words: [String],
            proxy: Listener
        ) throws -> (child: ChildProcess, scan: BypassScan) {
            let mark = "SLUICE_CA=/tmp/\(UUID().uuidString)"
            var scan = BypassScan(variable: mark, listeners: [try proxy.address])
            var variables = Self.variables
            variables["SLUICE_CA"] = String(mark.dropFirst("SLUICE_CA=".count))
            let child = try ChildProcess.start(ChildCommand(words, environment: variables), environment: variables)
            scan.start(child.pid)
            return (child, scan)
        }

        @Test("A connection elsewhere is found once, with its process; the one to the proxy is not")
        func found() async throws {
            let (proxy, server) = (try Listener(), try Listener())
            let script = "python3 -c \"$1\" \(proxy.port) & python3 -c \"$1\" \(server.port); wait"
            var (child, scan) = try start(["sh", "-c", script, "sh", Self.client], proxy: proxy)
            let toProxy = await onOwnThread { proxy.accept() }
            let past = await onOwnThread { server.accept() }
            // Sockets that other tests are just making may be inherited, so only our own count.
            let connections = scan.sample().filter { [proxy.port, server.port].contains($0.port) }
            #expect(connections.map(\.port) == [server.port])
            #expect(connections.first?.address == "127.0.0.1")
            #expect(connections.first?.process.hasPrefix("python3") == true)
            #expect(connections.first?.isLocal == true)
            #expect(connections.first.map { $0.pid != child.pid } == true)
            #expect(!scan.sample().map(\.port).contains(server.port))
            close(toProxy)
            close(past)
            #expect(await child.exitCode() == 0)
        }

        @Test("A process whose parent is gone is known by its variable")
        func orphan() async throws {
            let (proxy, server) = (try Listener(), try Listener())
            let script = "(setsid python3 -c \"$1\" \(server.port) &)"
            var (child, scan) = try start(["sh", "-c", script, "sh", Self.client], proxy: proxy)
            #expect(await child.exitCode() == 0)
            let past = await onOwnThread { server.accept() }
            #expect(scan.sample().map(\.port).filter { [proxy.port, server.port].contains($0) } == [server.port])
            close(past)
        }

        @Test("Connections that the command accepts are none that it made")
        func server() async throws {
            let (proxy, told) = (try Listener(), try Listener())
            let script = """
                import socket,sys
                l=socket.create_server(('127.0.0.1',0))
                s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))
                s.sendall(b'%05d'%l.getsockname()[1])
                a=l.accept()[0]
                s.sendall(b'!')
                a.recv(1)
                """
            var (child, scan) = try start(["python3", "-c", script, "\(told.port)"], proxy: proxy)
            let line = await onOwnThread { told.accept() }
            let port = try #require(await onOwnThread { Int(receive(5, from: line)) })
            let ours = try Listener.connect(to: port)
            #expect(await onOwnThread { receive(1, from: line) } == "!")
            #expect(scan.sample().map(\.port).filter { [told.port, port].contains($0) } == [told.port])
            close(ours)
            close(line)
            #expect(await child.exitCode() == 0)
        }

        @Test("Another program's connections are not the command's")
        func strangers() async throws {
            let (proxy, server) = (try Listener(), try Listener())
            let ours = try Listener.connect(to: server.port)
            let accepted = await onOwnThread { server.accept() }
            var (child, scan) = try start(["sh", "-c", "read line < /dev/null; exit 0"], proxy: proxy)
            let later = try Listener.connect(to: server.port)
            #expect(!scan.sample().map(\.port).contains(server.port))
            #expect(await child.exitCode() == 0)
            for descriptor in [ours, accepted, later] { close(descriptor) }
        }

        @Test("A socket that the command has opened is seen at a glance, until it was sampled")
        func glance() async throws {
            let (proxy, server) = (try Listener(), try Listener())
            var (child, scan) = try start(["python3", "-c", Self.client, "\(server.port)"], proxy: proxy)
            let past = await onOwnThread { server.accept() }
            let isSeen = scan.hasNewSocket()
            let ports = scan.sample().map(\.port)
            let isSeenAgain = scan.hasNewSocket()
            #expect(isSeen)
            #expect(ports.contains(server.port))
            #expect(!isSeenAgain)
            close(past)
            #expect(await child.exitCode() == 0)
        }

        @Test("A connection for names, or to a proxy on all addresses, is none past the proxy")
        func rows() throws {
            func endpoint(_ text: String, _ port: Int) throws -> SocketEndpoint {
                try #require(SocketEndpoint(SocketAddress(ipAddress: text, port: port)))
            }
            func passes(
                _ remote: String,
                _ port: Int,
                from local: String = "127.0.0.1",
                proxy: String,
                others: [SocketAddress] = []
            ) throws -> Bool {
                let row = SocketRow(
                    local: try endpoint(local, 40_000),
                    remote: try endpoint(remote, port),
                    state: SocketRow.State.established,
                    inode: 1
                )
                let proxy = try SocketAddress(ipAddress: proxy, port: 8_080)
                return BypassScan(variable: "A=b", listeners: [proxy] + others).passesProxy(row)
            }
            let reverse = try SocketAddress(ipAddress: "127.0.0.1", port: 9_090)
            #expect(try !passes("127.0.0.1", 9_090, proxy: "127.0.0.1", others: [reverse]))
            #expect(try !passes("127.0.0.1", 8_080, proxy: "127.0.0.1", others: [reverse]))
            #expect(try !passes("192.0.2.53", 53, proxy: "127.0.0.1"))
            #expect(try !passes("127.0.0.1", 8_080, proxy: "127.0.0.1"))
            #expect(try !passes("::ffff:127.0.0.1", 8_080, proxy: "127.0.0.1"))
            #expect(try passes("127.0.0.1", 8_081, proxy: "127.0.0.1"))
            #expect(try passes("192.0.2.7", 8_080, from: "192.0.2.7", proxy: "127.0.0.1"))
            #expect(try !passes("192.0.2.7", 8_080, from: "192.0.2.7", proxy: "0.0.0.0"))
            #expect(try !passes("127.0.0.1", 8_080, proxy: "::"))
            #expect(try passes("192.0.2.7", 8_080, from: "192.0.2.1", proxy: "0.0.0.0"))
        }

        @Test("The watcher tells while the command runs, and looks a last time when it is stopped")
        func watcher() async throws {
            let (proxy, server) = (try Listener(), try Listener())
            let script = """
                import socket,sys
                for n in 1, 2:
                    s=socket.create_connection(('127.0.0.1',int(sys.argv[n])))
                    s.recv(1)
                """
            let second = try Listener()
            let (child, scan) = try start(["python3", "-c", script, "\(server.port)", "\(second.port)"], proxy: proxy)
            let watcher = BypassWatcher(scan)
            let first = await onOwnThread { server.accept() }
            while watcher.found.withLock({ $0.connections.isEmpty }) { await Task.yield() }
            close(first)
            let last = await onOwnThread { second.accept() }
            let findings = await watcher.stop()
            #expect(findings.connections.map(\.port) == [server.port, second.port])
            #expect(findings.programs.contains { $0.hasPrefix("python3") }, "\(findings.programs)")
            close(last)
            #expect(await child.exitCode() == 0)
        }
    }
}

/// Whether this system tells of other processes' connections.
let tellsConnections: Bool = {
    #if os(Linux)
    true
    #else
    false
    #endif
}()
