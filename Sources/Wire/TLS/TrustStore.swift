internal import COpenSSL

/// A list of authorities without keys, which can be exported in the formats that clients read.
package struct TrustStore {
    /// An authority with its displayed name; kept parsed, because OpenSSL 3 needs up to a millisecond to parse one.
    struct Entry {
        var name: String
        var certificate: X509Handle
    }

    private(set) var entries: [Entry] = []
    private var known: Set<[UInt8]> = []

    package init() {}

    package var count: Int { entries.count }

    /// Compares certificates, not names.
    package func contains(_ authority: CertificateAuthority) -> Bool { known.contains(authority.certificateDER) }

    /// Does nothing if it is in the store already.
    package mutating func add(_ authority: CertificateAuthority, name: String) {
        guard let certificate = X509Handle(der: authority.certificateDER) else { return }
        add(Entry(name: name, certificate: certificate))
    }

    /// Adds the authorities of a PEM file; other blocks are skipped.
    package mutating func add(file: String) throws(CertificateError) {
        add(pem: try CertificateFiles.content(of: file))
    }

    mutating func add(pem: [UInt8]) {
        for der in TrustStore.certificates(pem: pem) where !known.contains(der) {
            guard let certificate = X509Handle(der: der) else { continue }
            let digest = hexadecimal(sha256(of: certificate.pointer))
            // Java distinguishes entries by name, and many roots share one.
            let name = "\(CertificateName.subject(of: certificate.pointer)) [\(digest.prefix(8))]"
            add(Entry(name: name.filter { !$0.isASCIIControl }, certificate: certificate))
        }
    }

    private mutating func add(_ entry: Entry) {
        if known.insert(entry.certificate.der).inserted { entries.append(entry) }
    }

    package var pem: [UInt8] {
        writtenToMemory { bio in
            for entry in entries { PEM_write_bio_X509(bio, entry.certificate.pointer) }
        }
    }

    /// The certificates of a PEM file in DER form, unparsed; in OpenSSL's `TRUSTED` form, notes follow a certificate.
    static func certificates(pem: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        _ = readingMemory(pem) { bio -> Bool? in
            var left = BIO_ctrl_pending(bio)
            while left > 0 {
                if let content = nextCertificate(bio) { found.append(content) }
                // Unreadable blocks are skipped, until nothing is consumed.
                let before = left
                left = BIO_ctrl_pending(bio)
                if left >= before { break }
            }
            return true
        }
        ERR_clear_error()
        return found
    }
}

extension Character {
    fileprivate var isASCIIControl: Bool { asciiValue.map { $0 < 0x20 || $0 == 0x7F } ?? false }
}

/// `nil` if the next block is malformed, or is not a certificate.
private func nextCertificate(_ bio: OpaquePointer) -> [UInt8]? {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard PEM_read_bio(bio, &name, &header, &data, &length) == 1, let name, let header, let data else { return nil }
    defer {
        sluice_free(name)
        sluice_free(header)
        sluice_free(data)
    }
    let labels = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
    guard labels.contains(String(cString: name)) else { return nil }
    return Array(UnsafeBufferPointer(start: data, count: length))
}
