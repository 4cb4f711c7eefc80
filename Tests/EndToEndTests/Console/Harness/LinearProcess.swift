import Foundation
import Support
import Synchronization
import Testing

/// A console without a screen that a test talks to.
final class LinearProcess: ProxyUnderTest {
    let scratch: Scratch
    private let child: ChildProgram
    private let input: FileHandle
    /// How many bytes of the output were looked at, and where the proxy listens.
    private let state = Mutex((heard: 0, address: ""))

    init() async throws {
        scratch = try Scratch()
        let pipe = Pipe()
        input = pipe.fileHandleForWriting
        child = try ChildProgram(
            try SluiceProcess.executable(),
            [
                "--linear", "--listen", "127.0.0.1:0", "--session", scratch.path("session.sluice"),
                "--upstream-ca", try await TestAuthority.shared.root,
            ],
            environment: ProcessInfo.processInfo.environment.merging(SluiceProcess.environment(scratch)) { $1 },
            directory: scratch.path,
            input: pipe.fileHandleForReading,
            output: try scratch.newFile("output"),
            errors: try scratch.newFile("errors")
        )
        let first = try await hears("help lists the commands.")
        let line = first.split(separator: "\n").first { $0.hasPrefix("Listening on ") } ?? ""
        state.withLock { $0.address = String(line.dropFirst("Listening on ".count).dropLast()) }
    }

    var url: String { "http://\(state.withLock { $0.address })" }
    var authority: String { scratch.path("config") + "/sluice/ca-cert.pem" }
    var errors: String { scratch.text("errors") }
    var output: String { String(decoding: scratch.bytes("output"), as: UTF8.self) }

    func type(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// Waits for a line with a text, and returns what was written up to it since the last time.
    @discardableResult
    func hears(_ text: String) async throws -> String {
        var new = ""
        try await eventually("the console says '\(text)'; it said: \(output)") {
            let heard = state.withLock { $0.heard }
            new = String(decoding: scratch.bytes("output").dropFirst(heard), as: UTF8.self)
            guard let found = new.range(of: text), let end = new[found.upperBound...].firstIndex(of: "\n") else {
                return false
            }
            new = String(new[...end])
            state.withLock { $0.heard += new.utf8.count }
            return true
        }
        return new
    }

    @discardableResult
    func says(_ line: String, until text: String) async throws -> String {
        try type(line)
        return try await hears(text)
    }

    func startCurl(_ url: String, _ options: [String] = []) throws -> Program {
        try Program(
            "curl",
            ["-sS", "--noproxy", "", "--max-time", "60", "--proxy", self.url, "--cacert", authority] + options + [url],
            environment: ["HOME": scratch.path, "CURL_HOME": scratch.path]
        )
    }

    func curl(_ url: String, _ options: [String] = []) async throws {
        let outcome = try await startCurl(url, options).outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    func end() async throws -> Int32 {
        try await eventually("the console ends") { child.status != nil }
        return child.status ?? -1
    }
}
