import COpenSSL
import Foundation
import Support
import Testing

@testable import Wire

@Suite struct TLSTrustTests {
    @Test("An extra file that cannot be read says so, before any connection and at the first one")
    func unreadableFile() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        for file in [directory.path + "/absent.pem", try directory.write("garbage.pem", [1, 2, 3])] {
            let trust = TLSTrust(includesSystem: false, extraFiles: [file])
            let failure = #expect(throws: CertificateError.self) { try trust.load() }
            #expect(failure?.description.hasPrefix(file) == true)
            let client = try TLSClientContext(trust: trust)
            let atConnection = #expect(throws: TLSError.self) { _ = try client.makeSession(host: "a.example") }
            #expect(atConnection?.explanation.contains(file) == true)
        }
    }

    @Test("Many threads may load the same authorities")
    func concurrentLoads() async throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let authority = try CertificateAuthority.generate()
        let file = try directory.write("root.pem", authority.export(.pem))
        let trust = TLSTrust(includesSystem: false, extraFiles: [file])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try trust.load()
                    let client = try TLSClientContext(trust: trust)
                    let server = try TLSServerContext()
                    let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
                    var pair = TLSPair(
                        client: try client.makeSession(host: "a.example"),
                        server: try server.makeSession(certificate: mint.certificate(for: "a.example"))
                    )
                    pair.run()
                    #expect(pair.client.state == .open)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("SSL_CERT_DIR replaces the system's authorities, and is looked up by hash")
    func environmentDirectory() async {
        await #expect(processExitsWith: .success) {
            let directory = try Scratch()
            defer { directory.remove() }
            let authority = try CertificateAuthority.generate()
            try directory.write("root.pem", authority.export(.pem))
            try #require(try openssl(["rehash", directory.path]).status == 0)
            setenv("SSL_CERT_DIR", directory.path, 1)
            let client = try TLSClientContext()
            let server = try TLSServerContext()
            let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
            var pair = TLSPair(
                client: try client.makeSession(host: "a.example"),
                server: try server.makeSession(certificate: mint.certificate(for: "a.example"))
            )
            pair.run()
            try #require(pair.client.state == .open)
        }
    }

    @Test(
        "An authority of the system is found in its hashed directory",
        .enabled(if: CertificateFiles.isHashedDirectory("/etc/ssl/certs"))
    )
    func systemDirectory() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: "/etc/ssl/certs").filter { $0.hasSuffix(".0") }
        let trust = TLSTrust()
        let context = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(context) }
        try trust.install(in: context)
        let store = SSL_CTX_get_cert_store(context)
        var found = 0
        for file in files.prefix(20) {
            let pem = Array(try Data(contentsOf: URL(fileURLWithPath: "/etc/ssl/certs/\(file)")))
            let certificate = try #require(readingMemory(pem) { PEM_read_bio_X509($0, nil, nil, nil) })
            let handle = X509Handle(owning: certificate)
            let verification = X509_STORE_CTX_new()
            defer { X509_STORE_CTX_free(verification) }
            X509_STORE_CTX_init(verification, store, handle.pointer, nil)
            if X509_verify_cert(verification) == 1 { found += 1 }
        }
        // A few may have expired.
        #expect(found > files.prefix(20).count / 2)
    }
}
