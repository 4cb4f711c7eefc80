internal import COpenSSL
internal import Foundation

extension TrustStore {
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` if one is set, like OpenSSL; if not, the system's authorities, if it has any.
    package static func system(environment: [String: String]) -> TrustStore {
        var store = TrustStore()
        let file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        let directories = environment["SSL_CERT_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        if file != nil || directories != nil {
            if let file { try? store.add(file: file) }
            for directory in (directories ?? "").split(separator: ":") { store.add(directory: String(directory)) }
            return store
        }
        for bundle in [String(cString: X509_get_default_cert_file())] + TLSTrust.usualBundles where store.count == 0 {
            try? store.add(file: bundle)
        }
        for directory in [String(cString: X509_get_default_cert_dir()), "/etc/ssl/certs"] where store.count == 0 {
            store.add(directory: directory)
        }
        return store
    }

    private mutating func add(directory: String) {
        guard let handle = opendir(directory) else { return }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            // The declared size of the field may be wrong.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        for name in names.sorted() { try? add(file: "\(directory)/\(name)") }
    }
}
