import Foundation

/// The programs in Python that tests run, with packages of their own: the environment that the README's test command makes.
package enum PeerEnvironment {
    /// The path of one of its programs. Where it is missing, the test that needs it fails.
    package static func program(_ name: String) throws -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let environment = ProcessInfo.processInfo.environment["SLUICE_PEERS"]
        let program = (environment ?? package.appendingPathComponent(".build/peers").standardizedFileURL.path)
            .appending("/bin/\(name)")
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw Program.ProgramError(
                description: "These tests need Python packages in an environment of their own, and there is no "
                    + "\(program). Make it as the README's test command does, or name another in SLUICE_PEERS."
            )
        }
        return program
    }
}
