import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Files that are read and written")
    struct FileStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func makePipe(_ name: String = "pipe") -> String {
            mkfifo(scratch.path(name), 0o600)
            return scratch.path(name)
        }

        /// A closed session with one exchange.
        private func session() async throws -> String {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(scratch: scratch)
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/kept")
            #expect(try await sluice.stop().status == 0)
            return sluice.session
        }

        @Test("A signal ends a start that waits for a pipe", arguments: ["--profile", "--ca", "--upstream-ca"])
        func interrupted(option: String) async throws {
            let pipe = makePipe()
            let program = try Program(
                try SluiceProcess.executable(),
                ["run", "--listen", "127.0.0.1:0", option, pipe],
                environment: SluiceProcess.environment(scratch)
            )
            // Returns once somebody reads; and who reads finds nothing.
            let writer = try await blocking { open(pipe, O_WRONLY) }
            defer { close(writer) }
            program.signal(SIGINT)
            #expect(try await program.outcome().status == -SIGINT)
        }

        @Test("A command's output is a profile; a pipe that it includes later changes nothing, and all goes on")
        func pipes() async throws {
            let pipe = makePipe()
            let rules = "version: 1\nblock: { at: \"*/blocked\" }\n"
            async let written: Void = blocking { try Data(rules.utf8).write(to: URL(filePath: pipe), options: []) }
            let sluice = try await SluiceProcess(["--profile", pipe], profile: "version: 1\n", scratch: scratch)
            try await written
            #expect(try await sluice.answer("http://localhost:1/blocked").status == 403)
            let included = makePipe("included")
            try scratch.write("profile.yaml", "version: 1\ninclude: [ included ]\n")
            try await eventually("it is said") {
                sluice.errors.contains("profile.yaml:2:12: \(included) cannot be read: it is a pipe, not a file")
            }
            #expect(try await sluice.told("tool", "list").contains("block"))
            // What came out of the pipe counts on, though it cannot be had again.
            try scratch.write("profile.yaml", "version: 1\nblock-cookies: { only: \"*\" }\n")
            try await eventually("it is read again") { sluice.errors.contains("1 rule added") }
            #expect(try await sluice.answer("http://localhost:1/blocked").status == 403)
            #expect(try await sluice.stop().status == 0)
        }

        @Test("An export goes where a link leads, and to standard output by its name; nothing else is left")
        func export() async throws {
            let export = ["export", try await session(), "--format", "har", "-o"]
            try FileManager.default.createDirectory(atPath: scratch.path("out"), withIntermediateDirectories: true)
            try scratch.write("out/target.har", "old")
            symlink("target.har", scratch.path("out/link.har"))
            let linked = try await SluiceProcess.run(export + [scratch.path("out/link.har")], scratch: scratch)
            let printed = try await SluiceProcess.run(export + ["/dev/stdout"], scratch: scratch)
            #expect(linked.status == 0 && printed.status == 0, "\(linked.errors)\(printed.errors)")
            #expect(printed.text.contains("/kept") && latin1(scratch.bytes("out/target.har")) == printed.text)
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")).sorted()
            #expect(names == ["link.har", "target.har"])
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path("out/target.har"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("out/link.har"))
            #expect(link == "target.har")
        }

        @Test("A session that is removed while it is recorded is told at the end, with how much is lost")
        func removedSession() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(scratch: scratch)
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/1", "http://127.0.0.1:\(origin.port)/2")
            try FileManager.default.removeItem(atPath: sluice.session)
            let end = try await sluice.stop()
            #expect(end.status == 1)
            #expect(end.errors.contains("sluice: NOT recorded: 2 exchanges: "), "\(end.errors)")
        }

        @Test("The session of a HAR goes with its console, and with the next one where that was killed")
        func archive() async throws {
            let har = scratch.path("a.har")
            let export = ["export", try await session(), "--format", "har", "-o", har]
            #expect(try await SluiceProcess.run(export, scratch: scratch).status == 0)
            func left() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter {
                    $0.hasPrefix("sluice-archive.")
                }
            }
            let killed = try ConsoleScreen(["open", har], scratch: scratch)
            try await killed.row(containing: "/kept", "200")
            let first = try left()
            killed.signal(SIGKILL)
            _ = try await killed.exitStatus()
            #expect(try left() == first && first.count == 1)
            let next = try ConsoleScreen(["open", har], scratch: scratch)
            try await next.row(containing: "/kept", "200")
            #expect(try left().count == 1 && left() != first)
            next.signal(SIGTERM)
            #expect(try await next.exitStatus() == 0)
            #expect(try left() == [])
        }

        @Test("The password of a PKCS #12 file comes from a file, or from standard input")
        func password() async throws {
            let file = try scratch.write("password", "open sesame\nnot this\n")
            let output = scratch.path("ca.p12")
            let export = ["ca", "export", "--format", "p12", "-o", output, "--password-file"]
            let openssl = ["pkcs12", "-in", output, "-passin", "pass:open sesame", "-noout"]
            for (source, input) in [(file, nil), ("-", Array("open sesame\n".utf8))] {
                let exported = try await Program.run(
                    try SluiceProcess.executable(),
                    export + [source],
                    environment: SluiceProcess.environment(scratch),
                    input: input
                )
                #expect(exported.status == 0, "\(exported.errors)")
                try await Program.require("openssl", openssl)
                try FileManager.default.moveItem(atPath: output, toPath: scratch.path("kept.p12-\(source.count)"))
            }
            let shown = try await SluiceProcess.run(
                ["ca", "show", "--ca", scratch.path("kept.p12-1"), "--ca-password-file", file],
                scratch: scratch
            )
            #expect(shown.status == 0 && shown.text.contains("SHA-256"), "\(shown.errors)")
            for wrong in [[try scratch.write("empty", "")], [file, "--password", "x"]] {
                #expect(try await SluiceProcess.run(export + wrong, scratch: scratch).status != 0)
            }
            #expect(!FileManager.default.fileExists(atPath: output))
        }
    }
}
