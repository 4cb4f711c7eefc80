import Foundation
import Rules
import Support
import Testing
import Tools

@testable import Runner

@Suite("The files that a profile names for servers")
struct ServerAccessTests {
    /// A certificate with an encrypted key, and another one's key.
    private func make(in scratch: Scratch) async throws {
        for (name, password) in [("one", "right"), ("other", "")] {
            let key = password.isEmpty ? ["-nodes"] : ["-passout", "pass:\(password)"]
            let outcome = try await Program.run(
                "openssl",
                ["req", "-x509", "-newkey", "rsa:2048", "-subj", "/CN=\(name)", "-days", "2"] + key
                    + ["-keyout", scratch.path("\(name).key"), "-out", scratch.path("\(name).pem")]
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    @Test("Each one that would keep Sluice from starting is named with its place")
    func problems() async throws {
        let scratch = try Scratch()
        try await make(in: scratch)
        try scratch.write("text.pem", "no certificate")
        try scratch.write("wrong.txt", "wrong\n")
        try scratch.makeDirectory("folder.pem")
        let path = try scratch.write(
            "p.yaml",
            """
            version: 1
            upstream:
              - { proxy: "http://me@p.example:1", password-file: missing.txt }
              - { proxy: "http://me@q.example:1", password-file: missing.txt, enabled: false }
            client-certificate:
              - { host: a.example, file: missing.pem }
              - { host: b.example, file: text.pem }
              - { host: c.example, file: folder.pem }
              - { host: d.example, certificate: one.pem, key: other.key }
              - { host: e.example, certificate: one.pem, key: one.key, password-file: wrong.txt }
              - { host: f.example, certificate: one.pem, key: one.key }
              - { host: g.example, certificate: other.pem, key: other.key }

            """
        )
        let problems = ServerAccess.problems(in: try RuleProfile.load(paths: [path])).map(\.description)
        #expect(problems.count == 6, "\(problems)")
        for (line, problem) in zip([3, 6, 7, 8, 9, 10], problems) {
            #expect(problem.hasPrefix("\(path):\(line):"), "\(problem)")
        }
    }

    @Test("A password that was typed wrong is asked for again, three times in all")
    func attempts() async throws {
        let scratch = try Scratch()
        try await make(in: scratch)
        let path = try scratch.write(
            "p.yaml",
            "version: 1\nclient-certificate: [ { host: a.example, certificate: one.pem, key: one.key } ]\n"
        )
        let profile = try RuleProfile.load(paths: [path])
        for (typed, isRight) in [(["wrong", "again", "right"], true), (["1", "2", "3", "right"], false)] {
            var secrets = ServerAccess.Secrets()
            var left = typed[...]
            let open = { try ServerAccess(profile, option: nil, secrets: &secrets) { _ in left.popFirst() } }
            if isRight {
                _ = try open()
                #expect(secrets.values.sorted() == ["right"])
            } else {
                let error = #expect(throws: ProfileError.self) { _ = try open() }
                #expect(error?.description.contains("none of the 3 passwords") == true, "\(String(describing: error))")
                #expect(!(error?.description.contains("password-file") ?? true))
            }
            #expect(left.count == (isRight ? 0 : 1))
        }
    }

    @Test("'env' names no proxy in a profile, and the error says what to write")
    func environment() throws {
        let scratch = try Scratch()
        let path = try scratch.write("p.yaml", "version: 1\nupstream: [ { proxy: env } ]\n")
        let error = #expect(throws: ProfileError.self) { try RuleProfile.load(paths: [path]) }
        #expect(error?.description.contains("--upstream-proxy env") == true, "\(String(describing: error))")
    }
}
