import CPostgres
import Foundation

/// Where a store is: a URL as `psql` takes it (`postgresql://user@host/database`). What it leaves out is taken from a
/// service file and from the environment, as libpq does.
package struct StoreAddress: Sendable, Hashable {
    /// Never printed, because it may have a password.
    private let url: String
    package let project: String
    private let options: [String: String]

    package static let defaultProject = "traffic"

    /// Whether a word of a command line is the address of a store.
    package static func isOne(_ word: String) -> Bool {
        ["postgresql://", "postgres://"].contains { word.hasPrefix($0) }
    }

    /// Throws if libpq is missing or cannot read the URL, or if the project's name cannot be one.
    package init(_ url: String, project: String = defaultProject) throws(StoreError) {
        guard StoreAddress.isOne(url) else {
            let hint = "For example postgresql://user@host/database; PGPASSWORD or ~/.pgpass have the password."
            throw StoreError(.address, "The address of a store begins with postgresql://.", hint: hint)
        }
        let letters = Array(project.utf8)
        let isName = letters.allSatisfy { $0 == 0x5F || $0 &- 0x30 < 10 || $0 &- 0x61 < 26 }
        guard isName, letters.first.map({ $0 &- 0x61 < 26 }) == true, letters.count <= 40, project != "public" else {
            let what = "A project is named by up to 40 small letters, digits and _, beginning with a letter"
            throw StoreError(.address, "\(what); not '\(project)'.")
        }
        guard sluice_open_libpq() else {
            let hint = "Install it: apt install libpq5, or brew install libpq."
            throw StoreError(.library, "A store needs PostgreSQL's client library, libpq 14 or later.", hint: hint)
        }
        guard let parsed = sluice_PQconninfoParse(url, nil) else {
            let hint = "It is postgresql://user:password@host:port/database?option=value, with % codes for other signs."
            throw StoreError(.address, "The address of the store is no URL that libpq can read.", hint: hint)
        }
        defer { sluice_PQconninfoFree(parsed) }
        options = StoreAddress.values(parsed)
        (self.url, self.project) = (url, project)
        // libpq says this only when it connects, after a start that looks fine.
        let ports = options["port"]?.split(separator: ",") ?? []
        if !ports.allSatisfy({ Int($0).map((1...65_535).contains) ?? false }), let port = options["port"] {
            throw StoreError(.address, "The store's port is a number from 1 to 65535; not '\(port)'.")
        }
        if let mode = options["sslmode"], !StoreAddress.modes.contains(mode) {
            let modes = StoreAddress.modes.joined(separator: ", ")
            throw StoreError(.address, "The store's sslmode is one of \(modes); not '\(mode)'.")
        }
    }

    private static let modes = "disable allow prefer require verify-ca verify-full".split(separator: " ")
        .map { String($0) }

    static func values(_ first: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var (values, option): ([String: String], UnsafeMutablePointer<PQconninfoOption>) = ([:], first)
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }

    /// The parameters of a connection. Statements may take a minute, and a server that has gone silent is given up
    /// after 20 seconds.
    var parameters: [(String, String)] {
        let own = [
            ("dbname", url), ("fallback_application_name", "sluice"), ("client_encoding", "UTF8"),
            ("tcp_user_timeout", "20000"), ("keepalives_idle", "20"),
        ]
        return own.filter { $0.0 == "dbname" || options[$0.0] == nil }
    }

    /// Added if the host is not this machine, and nobody has chosen how the server is verified.
    static var verification: [(String, String)] { [("sslmode", "verify-full"), ("sslrootcert", systemCertificates)] }

    private static let certificateFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    private static var systemCertificates: String {
        certificateFiles.first { access($0, R_OK) == 0 } ?? certificateFiles[0]
    }

    /// Whether libpq's values for a connection leave it open whether the server is verified. `prefer` is libpq's own
    /// default, and no protection.
    static func needsVerification(_ values: [String: String]) -> Bool {
        let host = values["hostaddr"] ?? values["host"] ?? ""
        let isLocal = host.split(separator: ",").allSatisfy {
            $0.hasPrefix("/") || $0.hasPrefix("@") || $0 == "localhost" || $0.hasPrefix("127.") || $0 == "::1"
        }
        return !isLocal && ["prefer", ""].contains(values["sslmode"] ?? "")
    }

    /// Without the password.
    package var shown: String {
        let user = options["user"].map { "\($0)@" } ?? ""
        let host = options["host"] ?? options["hostaddr"] ?? ""
        let isSocket = host.hasPrefix("/")
        let port = options["port"].map { isSocket ? "port=\($0)" : ":\($0)" } ?? ""
        let service = options["service"].map { "service=\($0)" } ?? ""
        let query = [isSocket ? "host=\(host)" : "", isSocket ? port : "", service].filter { !$0.isEmpty }
            .joined(separator: "&")
        let place = isSocket ? "" : host + port
        return "postgresql://\(user)\(place)/\(options["dbname"] ?? "")\(query.isEmpty ? "" : "?" + query)"
    }

    /// A text of the server or of libpq without the password.
    func masked(_ text: String) -> String {
        guard let password = options["password"], !password.isEmpty else { return text }
        return text.replacing(password, with: "…").replacing(url, with: shown)
    }
}
