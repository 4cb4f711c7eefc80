import Foundation
import Support
import Testing

#if os(Linux)
extension EndToEnd {
    /// Where the tests run as root, a kernel forbids them nothing: these are run as somebody else.
    @Suite("A user without special rights")
    struct OrdinaryUser {
        private static let setpriv = "/usr/bin/setpriv"
        static let isRoot = geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv)
        private static let nobody: uid_t = 65_534

        /// Runs a command of sluice as nobody, who owns the directory.
        private func run(_ arguments: [String], in scratch: Scratch) async throws -> Program.Outcome {
            for path in [scratch.path, scratch.path("home")] {
                #expect(chown(path, Self.nobody, Self.nobody) == 0 && chmod(path, 0o755) == 0)
            }
            let become = ["--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", "--"]
            let environment = SluiceProcess.environment(scratch).merging(["TMPDIR": scratch.path("home")]) { $1 }
            return try await Program.run(
                Self.setpriv,
                become + [try SluiceProcess.executable()] + arguments,
                environment: environment
            )
        }

        @Test("Clients are served, servers asked, and both are on record", .enabled(if: isRoot))
        func served() async throws {
            let nginx = try await Nginx()
            let scratch = try Scratch()
            try scratch.makeDirectory("home")
            let root = try await TestAuthority.shared.root
            try scratch.write("root.pem", try String(contentsOfFile: root, encoding: .utf8))
            let trust = ["--upstream-ca", scratch.path("root.pem")]
            let options = ["run", "--quiet", "--session", scratch.path("s.sluice")] + trust
            for scheme in ["http", "https"] {
                let command = ["--", "curl", "-sS", nginx.url(scheme, "/hello.txt")]
                let outcome = try await run(options + command, in: scratch)
                #expect(outcome.status == 0 && outcome.text == "Hello, Sluice.\n", "\(outcome)")
            }
            let list = try await run(["list", scratch.path("s.sluice")], in: scratch)
            #expect(list.text.ranges(of: "/hello.txt").count == 2, "\(list)")
            let look = try await run(["tls", "localhost:\(nginx.securePort)"] + trust, in: scratch)
            #expect(look.status == 0 && look.text.contains("connects"), "\(look)")
        }
    }
}
#endif
