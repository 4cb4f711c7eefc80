internal import COpenSSL

/// A list of authorities without keys, which can be exported in the formats that clients read.
package struct TrustStore {
    /// An authority with its displayed name.
    struct Entry {
        var name: String
        var der: [UInt8]
    }

    private(set) var entries: [Entry] = []
    private var known: Set<[UInt8]> = []
    /// Several variables often name the same file.
    private var files: Set<String> = []

    package init() {}

    package var count: Int { entries.count }

    /// Compares certificates, not names.
    package func contains(_ authority: CertificateAuthority) -> Bool { known.contains(authority.certificateDER) }

    /// Does nothing if it is in the store already.
    package mutating func add(_ authority: CertificateAuthority, name: String) {
        add(Entry(name: name, der: authority.certificateDER))
    }

    /// Adds the authorities of a PEM file; other blocks are skipped.
    package mutating func add(file: String) throws(CertificateError) {
        guard !files.contains(file) else { return }
        add(pem: try CertificateFiles.content(of: file))
        files.insert(file)
    }

    mutating func add(pem: [UInt8]) {
        for der in TrustStore.certificates(pem: pem) where !known.contains(der) {
            guard let (der, subject) = CertificateName.subject(ofDER: der) else { continue }
            // Java distinguishes entries by name, and many roots share one.
            let name = "\(subject) [\(hexadecimal(sha256(of: der)).prefix(8))]"
            add(Entry(name: name.filter { !$0.isASCIIControl }, der: der))
        }
    }

    private mutating func add(_ entry: Entry) {
        if known.insert(entry.der).inserted { entries.append(entry) }
    }

    package var pem: [UInt8] {
        writtenToMemory { bio in
            for entry in entries { PEM_write_bio(bio, PEM_STRING_X509, "", entry.der, entry.der.count) }
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
