import Foundation
import NIOCore
import Support
import Synchronization
import Testing
import Wire

@testable import Runner

extension RealProcessTests {
    @Suite struct ChildRunTests {
        private let inherited = ["PATH": "/usr/local/bin:/usr/bin:/bin", "SSL_CERT_FILE": "/nowhere"]

        private func run(
            _ words: [String],
            proxy: SocketAddress? = nil,
            note: (String) -> Void = { _ in }
        ) async throws -> ChildOutcome {
            try await ChildRun.run(
                ChildCommand(words, environment: inherited),
                proxy: proxy ?? SocketAddress(ipAddress: "127.0.0.1", port: 9),
                authority: CertificateAuthority.generate(label: "ours"),
                inherited: inherited,
                note: note
            )
        }

        @Test("The command finds every file that its variables name, and afterwards they are gone")
        func files() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let script = """
                set -e
                for file in "$SLUICE_CA" "$SSL_CERT_FILE" "$NODE_EXTRA_CA_CERTS" "$WGETRC" "${PHP_INI_SCAN_DIR#:}/sluice.ini"
                do test -s "$file"; done
                openssl x509 -in "$SLUICE_CA" -noout -subject > '\(scratch.path)/subject'
                dirname "$SLUICE_CA" > '\(scratch.path)/directory'
                exit 3
                """
            #expect(try await run(["sh", "-c", script]).exitCode == 3)
            #expect(scratch.text("subject").contains("Sluice CA ours"))
            let directory = scratch.text("directory").trimmingCharacters(in: .newlines)
            #expect(directory.contains("/sluice-run."))
            #expect(!FileManager.default.fileExists(atPath: directory))
        }

        @Test("curl asks the proxy that the variables name, for servers on this machine, too")
        func curl() async throws {
            let proxy = try Listener()
            let address = try proxy.address
            async let outcome = run(["curl", "-s", "-o", "/dev/null", "http://localhost:1/x"], proxy: address)
            let connection = await onOwnThread { proxy.accept() }
            #expect(await onOwnThread { receive(25, from: connection) } == "GET http://localhost:1/x ")
            // The connection is cut off without an answer.
            close(connection)
            #expect([52, 56].contains(try await outcome.exitCode))
        }

        @Test(
            "A connection past the proxy is listed, even that of a process which outlives the command",
            .enabled(if: tellsConnections)
        )
        func bypass() async throws {
            let server = try Listener()
            let scratch = try Scratch()
            defer { scratch.remove() }
            let pipe = "\(scratch.path)/connected"
            #expect(mkfifo(pipe, 0o600) == 0)
            let client = """
                import socket,sys
                s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))
                open(sys.argv[2],'w').close()
                s.recv(1)
                """
            let script = "setsid python3 -c \"$1\" \(server.port) '\(pipe)' & read line < '\(pipe)'; exit 4"
            async let running = run(["sh", "-c", script, "sh", client])
            let connection = await onOwnThread { server.accept() }
            let outcome = try await running
            close(connection)
            #expect(outcome.exitCode == 4)
            // Sockets that other tests are just making may be inherited, so only our own counts.
            let ours = outcome.bypassed.filter { $0.port == server.port }
            #expect(ours.count == 1)
            let notes = outcome.notes(isUnused: false)
            #expect(notes.first?.contains("bypassed the proxy (very short ones may be missing):") == true)
            let pid = try #require(ours.first).pid
            let note = notes.first { $0.hasPrefix("  127.0.0.1:\(server.port) (python3") }
            #expect(note?.hasSuffix(", pid \(pid), on this machine)") == true)
        }

        @Test("A command that cannot be started leaves no files behind")
        func notStarted() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let script = try scratch.write("script", "#!/nowhere/sh\n", mode: 0o755)
            let parent = FileManager.default.temporaryDirectory.path
            func left() throws -> Set<String> {
                Set(try FileManager.default.contentsOfDirectory(atPath: parent).filter { $0.hasPrefix("sluice-run.") })
            }
            let before = try left()
            let failure = await #expect(throws: ChildError.self) { try await run([script]) }
            #expect(failure?.exitCode == 126)
            #expect(try left().subtracting(before).isEmpty)
        }

        @Test("Nothing past the proxy, nothing to say")
        func quiet() async throws {
            var notes: [String] = []
            let outcome = try await run(["true"]) { notes.append($0) }
            #expect(outcome.exitCode == 0)
            #expect(outcome.notes(isUnused: false) == [])
            #expect(outcome.programs.contains("true"))
            #expect(notes == ["the authorities that SSL_CERT_FILE names cannot be used: no such file (/nowhere)"])
        }
    }
}

@Suite struct ChildOutcomeTests {
    private func connection(_ address: String, _ port: Int, _ process: String, _ pid: Int32) -> BypassedConnection {
        BypassedConnection(address: address, port: port, process: process, pid: pid, isLocal: address == "::1")
    }

    @Test("Processes of one program that went to the same place share a line")
    func groups() {
        let outcome = ChildOutcome(
            exitCode: 0,
            bypassed: [
                connection("192.0.2.1", 443, "node", 7), connection("::1", 5_432, "node", 7),
                connection("192.0.2.1", 443, "node", 9), connection("192.0.2.1", 443, "curl", 11),
                connection("192.0.2.1", 443, "node", 8),
            ]
        )
        #expect(
            outcome.notes(isUnused: false) == [
                "connections bypassed the proxy (very short ones may be missing):",
                "  192.0.2.1:443 (node, pid 7) and 2 more like it",
                "  [::1]:5432 (node, pid 7, on this machine)",
                "  192.0.2.1:443 (curl, pid 11)", "clients that ignore the proxy:",
                "  Node before 22.21 ignores proxy variables, as do clients with an agent of their own",
                "'sluice guide headless' explains it",
            ]
        )
    }

    @Test("A long list is cut, and says so")
    func long() {
        let outcome = ChildOutcome(exitCode: 0, bypassed: (1...25).map { connection("192.0.2.1", $0, "scan", 7) })
        let notes = outcome.notes(isUnused: false)
        #expect(notes.count == 23)
        #expect(notes.dropLast().last == "  and 5 more")
    }

    @Test(
        "A run through which nothing came says so, and why by the runtimes that it had",
        arguments: [
            (["sh", "node"], "Node before 22.21"), (["python3.11"], "trust_env=True"), (["go"], "for localhost"),
            (["cart.test"], "for localhost"), (["ruby3.1"], "for localhost"), (["java"], "Apache HttpClient"),
            (["php8.2"], "file_get_contents"), (["true", "nodemon-x", "golem"], "for localhost by Go and Ruby"),
        ]
    )
    func unused(programs: [String], words: String) {
        let notes = ChildOutcome(exitCode: 0, bypassed: [], programs: Set(programs)).notes(isUnused: true)
        #expect(notes.first == "nothing used the proxy")
        #expect(notes.contains { $0.contains(words) }, "\(notes)")
        #expect(notes.count { $0.hasPrefix("  ") } == 1)
        #expect(notes.last == "'sluice guide headless' explains it")
    }
}
