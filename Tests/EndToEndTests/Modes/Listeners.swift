import Foundation
import Support

extension SluiceProcess {
    /// Starts a proxy that listens in further modes as well.
    static func listening(
        _ modes: String...,
        options: [String] = [],
        profile: String? = nil
    ) async throws -> SluiceProcess {
        try await SluiceProcess(
            ["--mode", "regular"] + modes.flatMap { ["--mode", $0] }
                + ["--upstream-ca", try await TestAuthority.shared.root] + options,
            profile: profile
        )
    }

    /// Where the first listener listens whose mode begins so, as `host:port`.
    func place(of mode: String) throws -> String {
        for line in errors.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 6, words[1...2] == ["listening", "on"], words[5].hasPrefix(mode) else { continue }
            return String(words[3])
        }
        throw Program.ProgramError(description: "sluice does not listen as \(mode): \(errors)")
    }

    /// The port of that listener.
    func port(of mode: String) throws -> Int {
        try place(of: mode).split(separator: ":").last.flatMap { Int($0) } ?? 0
    }

    /// Runs curl without the proxy's address; it trusts the authority.
    func plainCurl(_ arguments: String..., trusting authority: String? = nil) async throws -> Program.Outcome {
        try await Program.run(
            "curl",
            ["-sS", "--noproxy", "", "--max-time", "60", "--cacert", authority ?? self.authority] + arguments,
            environment: ["HOME": scratch.path, "CURL_HOME": scratch.path]
        )
    }
}
