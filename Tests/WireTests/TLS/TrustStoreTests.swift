import Foundation
import Support
import Testing

@testable import Wire

@Suite struct TrustStoreTests {
    private static let keytool = ["/usr/bin/keytool", "/usr/local/bin/keytool"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private func store(of count: Int) throws -> TrustStore {
        var store = TrustStore()
        for number in 0..<count {
            store.add(pem: try CertificateAuthority.generate(label: "root \(number)").export(.pem))
        }
        return store
    }

    @Test("Certificates are found between keys, comments and broken blocks, each once and in order")
    func reading() throws {
        let first = try CertificateAuthority.generate(label: "first")
        let second = try CertificateAuthority.generate(label: "second")
        let whole = first.certificateDER
        try #require(whole[4] == 0x30 && whole[5] == 0x82)
        // No certificate, a short one, one of indefinite length (BER), one without a sequence before its signature.
        var damaged = whole
        damaged[8 + Int(whole[6]) * 256 + Int(whole[7])] = 0
        let blocks: [[UInt8]] = [
            [0, 0, 0], Array(whole.dropLast()), [0x30, 0x80] + whole.dropFirst(4) + [0, 0], damaged,
        ]
        let broken = blocks.map {
            "-----BEGIN CERTIFICATE-----\n\(Data($0).base64EncodedString(options: .lineLength64Characters))\n"
                + "-----END CERTIFICATE-----\n"
        }.joined()
        let malformed = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"
        let text =
            "# a comment\n" + String(decoding: first.pem(withKey: true), as: UTF8.self) + broken + malformed
            + second.certificatePEM + first.certificatePEM + "-----BEGIN CERTIFICATE-----\nMIIB"
        var store = TrustStore()
        store.add(pem: Array(text.utf8))
        #expect(store.entries.map(\.der) == [first.certificateDER, second.certificateDER])
        #expect(String(decoding: store.pem, as: UTF8.self) == first.certificatePEM + second.certificatePEM)
    }

    @Test("Bytes that are no PEM at all give nothing, and end")
    func noise() {
        var generator = SplitMix(0x510C_E005)
        for length in [0, 1, 100, 100_000] {
            var store = TrustStore()
            store.add(pem: (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            store.add(pem: [UInt8](repeating: UInt8(ascii: "-"), count: length))
            store.add(pem: Array(String(repeating: "-----BEGIN CERTIFICATE-----\n", count: length / 28).utf8))
            #expect(store.count == 0)
        }
    }

    @Test("OpenSSL's form with its own notes on trust is read as the certificate that it holds")
    func trustedForm() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let authority = try CertificateAuthority.generate()
        let file = try directory.write("ca.pem", authority.export(.pem))
        let trusted = try openssl(["x509", "-in", file, "-trustout", "-addtrust", "serverAuth"]).output
        #expect(trusted.contains("BEGIN TRUSTED CERTIFICATE"))
        var store = TrustStore()
        store.add(pem: Array(trusted.utf8))
        #expect(store.entries.map(\.der) == [authority.certificateDER])
    }

    @Test("A file that is not there is an error with its path")
    func missingFile() {
        var store = TrustStore()
        let error = #expect(throws: CertificateError.self) { try store.add(file: "/nowhere/ca.pem") }
        #expect(error?.path == "/nowhere/ca.pem")
    }

    @Test("SSL_CERT_FILE and SSL_CERT_DIR take the place of the system's authorities")
    func variables() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let roots = try (0..<3).map { try CertificateAuthority.generate(label: "root \($0)") }
        let file = try directory.write("bundle.pem", roots[0].export(.pem))
        for name in ["one", "two"] {
            let path = "\(directory.path)/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        try directory.write("one/b.pem", roots[1].export(.pem))
        try directory.write("one/notes.txt", Array("no certificate".utf8))
        try directory.write("two/c.crt", roots[2].export(.pem))
        let places = "\(directory.path)/one:/nowhere:\(directory.path)/two"

        func found(_ environment: [String: String]) -> [[UInt8]] {
            TrustStore.system(environment: environment).entries.map(\.der)
        }
        let ders = roots.map(\.certificateDER)
        #expect(found(["SSL_CERT_FILE": file]) == [ders[0]])
        #expect(found(["SSL_CERT_DIR": places]) == [ders[1], ders[2]])
        #expect(found(["SSL_CERT_FILE": file, "SSL_CERT_DIR": places]) == ders)
        #expect(found(["SSL_CERT_FILE": "/nowhere"]) == [])
        #expect(found(["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]) == found([:]))
    }

    @Test(
        "The system's own authorities are found",
        .enabled(if: FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt"))
    )
    func systemBundle() throws {
        let bundle = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        let count = bundle.components(separatedBy: "BEGIN CERTIFICATE").count - 1
        #expect(TrustStore.system(environment: [:]).count == count)
    }

    @Test("Authorities of one name get names of their own in the PKCS#12 file")
    func names() throws {
        var store = TrustStore()
        for _ in 0..<2 { store.add(pem: try CertificateAuthority.generate(label: "same\nname").export(.pem)) }
        #expect(Set(store.entries.map(\.name)).count == 2)
        #expect(store.entries.allSatisfy { $0.name.hasPrefix("Sluice CA samename [") })
    }

    @Test("The PKCS#12 file marks every certificate as trusted for any use, in the clear, under a MAC with SHA-1")
    func pkcs12() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        var store = try store(of: 3)
        let own = try CertificateAuthority.generate()
        store.add(own, name: "sluice")
        let content = try store.pkcs12(password: "changeit")
        let file = try directory.write("store.p12", content)
        let listing = try openssl(["pkcs12", "-in", file, "-passin", "pass:changeit", "-info", "-nokeys"])
        #expect(listing.status == 0)
        #expect(listing.output.contains("MAC: sha1, Iteration 2048"))
        #expect(listing.output.contains("PKCS7 Data\n"))
        #expect(!listing.output.contains("Encrypted"))
        #expect(listing.output.components(separatedBy: "BEGIN CERTIFICATE").count == 5)
        #expect(listing.output.contains("friendlyName: sluice"))
        // The attribute 2.16.840.1.113894.746875.1.1 with a set of one value, 2.5.29.37.0.
        let attribute = "060c6086480186f966adca7b0101" + "3106" + "0604551d2500"
        #expect(hexadecimal(content).components(separatedBy: attribute).count == 5)
        #expect(try openssl(["pkcs12", "-in", file, "-passin", "pass:other", "-info", "-nokeys"]).status != 0)
    }

    @Test("Java lists every certificate as a trusted one", .enabled(if: TrustStoreTests.keytool != nil))
    func java() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        var store = try store(of: 3)
        store.add(try CertificateAuthority.generate(), name: "sluice")
        let file = try directory.write("store.p12", store.pkcs12(password: "changeit"))
        let outcome = try ChildProgram.run(
            try #require(Self.keytool),
            ["-list", "-keystore", file, "-storetype", "PKCS12", "-storepass", "changeit"]
        )
        #expect(outcome.status == 0)
        #expect(outcome.text.components(separatedBy: "trustedCertEntry").count == 5, "\(outcome.text)")
        #expect(outcome.text.contains("sluice, "))
    }

    @Test("An empty store has no certificates to write, and no PKCS#12 form")
    func empty() {
        #expect(TrustStore().pem.isEmpty)
        #expect(throws: CertificateError.self) { try TrustStore().pkcs12(password: "changeit") }
    }
}
