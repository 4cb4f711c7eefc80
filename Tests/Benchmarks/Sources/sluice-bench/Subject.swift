import Foundation

/// A program that is measured; each has a column in the table.
struct Subject: Hashable, Sendable {
    enum Kind {
        case nginx
        case squid
        case mitmdump
        case sluice
        /// Only for the run times of commands.
        case curl
    }

    let name: String
    let kind: Kind
    /// The path of the program.
    let program: String
    /// The traffic that it can carry as the hop.
    let traffic: Set<Traffic>

    init(_ name: String, _ kind: Kind, program: String, traffic: Set<Traffic> = []) {
        self.name = name
        self.kind = kind
        self.program = program
        self.traffic = traffic
    }

    /// The name of its column, and of the figures that the ratios are relative to.
    static let nginxName = "nginx"

    static func nginx(_ program: String) -> Subject {
        Subject(nginxName, .nginx, program: program, traffic: [.plain, .secure, .http2])
    }

    static func mitmdump(_ program: String) -> Subject {
        Subject("mitmdump", .mitmdump, program: program, traffic: [.plain, .secure, .http2])
    }

    /// Squid decrypts only if it was built with OpenSSL, and speaks no HTTP/2.
    static func squid(_ program: String) throws -> Subject {
        let decrypts = try output(of: program, ["-v"]).contains("--with-openssl")
        return Subject("squid", .squid, program: program, traffic: decrypts ? [.plain, .secure, .newHosts] : [.plain])
    }

    /// The builds of Sluice to compare: the first is `Sluice`, the second `before`.
    static func sluices(_ programs: [String]) -> [Subject] {
        programs.enumerated().map { index, program in
            let name = index == 0 ? "Sluice" : index == 1 ? "before" : "before \(index)"
            return Subject(name, .sluice, program: program, traffic: [.plain, .secure, .http2, .newHosts])
        }
    }
}

extension Subject {
    /// The subject with a copy of its program, because a build during the run may replace the original.
    func copied(to folder: String) throws -> Subject {
        let copy = "\(folder)/\(URL(fileURLWithPath: program).lastPathComponent)"
        try FileManager.default.copyItem(atPath: program, toPath: copy)
        return Subject(name, kind, program: copy, traffic: traffic)
    }
}

/// The kinds of traffic that the client sends through a hop.
enum Traffic {
    /// HTTP without TLS.
    case plain
    /// HTTP/1.1 over TLS, to one host.
    case secure
    /// HTTP/2 over TLS, to one host.
    case http2
    /// HTTP/1.1 over TLS, with a new host name for each request.
    case newHosts
}

/// Starts subjects as the hop between the client and the origin.
extension Subject {
    /// Starts it with its files in a folder of its own.
    func start(for traffic: Traffic, in folder: String, site: Site, origin: Origin) throws -> Hop {
        switch kind {
        case .nginx: try startNginx(in: folder, site: site, origin: origin)
        case .squid: try startSquid(for: traffic, in: folder, site: site, origin: origin)
        case .mitmdump: try startMitmdump(in: folder, site: site, origin: origin)
        case .sluice: try startSluice(for: traffic, in: folder, site: site, origin: origin)
        case .curl: throw BenchmarkError("curl is not a proxy")
        }
    }
}

/// The path of an installed program; nil if it is not in `PATH` or the folders of daemons.
func findProgram(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/local/sbin", "/usr/sbin"]).map { "\($0)/\(name)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}
