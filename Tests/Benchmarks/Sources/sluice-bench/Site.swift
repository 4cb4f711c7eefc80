import Foundation
import Glibc

/// A folder with what all subjects share: certificates, and the files that are served.
struct Site: Sendable {
    let folder: String
    /// The authority that signed the origin's certificate, and with which the hops sign theirs.
    var authority: String { folder + "/authority.pem" }
    var authorityKey: String { folder + "/authority.key" }
    /// The origin's certificate, for 127.0.0.1 and the names below `domain`.
    var certificate: String { folder + "/server.pem" }
    var certificateKey: String { folder + "/server.key" }

    static let domain = "bench.test"
    static let smallSize = 1 << 10
    static let largeSize = 100 << 20
    static let hugeSize = 1 << 30

    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        try makeCertificates()
        // Sparse files: their bytes come from the page cache, like those of a warm origin.
        try makeFile("100m", Site.largeSize)
        try makeFile("1g", Site.hugeSize)
    }

    /// Makes a new folder for one process.
    func makeFolder() throws -> String {
        var template = Array("\(folder)/XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError("no folder in \(folder): errno \(errno)") }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func makeFile(_ name: String, _ size: Int) throws {
        let path = "\(folder)/files/\(name)"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = FileHandle(forWritingAtPath: path)
        try file?.truncate(atOffset: UInt64(size))
        try file?.close()
    }

    /// P-256 everywhere, like the certificates that Sluice mints.
    private func makeCertificates() throws {
        let log = folder + "/openssl.log"
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        try runProgram(
            "openssl",
            ["req", "-x509", "-subj", "/CN=Benchmark authority", "-keyout", authorityKey, "-out", authority]
                + newKey + ["-addext", "keyUsage=critical,keyCertSign,cRLSign"],
            log: log
        )
        try runProgram(
            "openssl",
            ["req", "-x509", "-CA", authority, "-CAkey", authorityKey, "-subj", "/CN=127.0.0.1"]
                + newKey + ["-keyout", certificateKey, "-out", certificate]
                + ["-addext", "subjectAltName=IP:127.0.0.1,DNS:*.\(Site.domain)"]
                + ["-addext", "basicConstraints=critical,CA:FALSE"],
            log: log
        )
    }
}
