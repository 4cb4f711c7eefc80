import Foundation

/// A real nginx in a folder of its own, with files below `www`.
package final class NginxServer: Sendable {
    package let scratch: Scratch
    private let program: Program

    /// Starts it and waits until it listens.
    ///
    /// - Parameters:
    ///   - folders: folders to make below `www`.
    ///   - connections: how many it takes at once.
    ///   - http: what the `http` block has besides the places of temporary files.
    ///   - isListening: whether it can be connected to.
    package init(
        folders: [String],
        connections: Int = 512,
        http: (Scratch) -> String,
        isListening: () -> Bool
    ) async throws {
        let scratch = try Scratch()
        self.scratch = scratch
        for folder in folders.map({ "www/" + $0 }) + ["temp"] { try scratch.makeDirectory(folder) }
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(scratch.path("temp/\($0)"));" }.joined(separator: "\n    ")
        try scratch.write(
            "nginx.conf",
            """
            daemon off;
            master_process off;
            worker_processes 1;
            pid \(scratch.path("nginx.pid"));
            error_log \(scratch.path("error.log"));
            events { worker_connections \(connections); }
            http {
                \(places)
            \(http(scratch))
            }

            """
        )
        // The compiled-in error log may not be writable; -e replaces it.
        program = try Program(
            "nginx",
            ["-p", scratch.path, "-c", scratch.path("nginx.conf"), "-e", scratch.path("error.log")]
        )
        let program = program
        try await eventually("nginx listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "nginx ended with \(status): \(program.errors)")
            }
            return isListening()
        }
    }

    deinit { program.signal(SIGTERM) }
}

/// Serves the files of an nginx of its own.
package protocol NginxBacked {
    var server: NginxServer { get }
}

extension NginxBacked {
    package var scratch: Scratch { server.scratch }

    /// Puts a file in place and returns its bytes: not compressible, the same each time.
    package func makeFile(_ name: String, size: Int) throws -> [UInt8] {
        let bytes = noise(size)
        try scratch.write("www/" + name, bytes)
        return bytes
    }

    /// What was uploaded to `/dav/`.
    package func uploaded(_ name: String) -> [UInt8] { scratch.bytes("www/dav/" + name) }
}

/// Bytes that look random and are the same each time.
package func noise(_ count: Int) -> [UInt8] {
    var random = SplitMix(0x5EED)
    let words = (0...count / 8).map { _ in random.next() }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}
