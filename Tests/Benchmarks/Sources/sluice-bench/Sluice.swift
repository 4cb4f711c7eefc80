import Foundation

extension Subject {
    /// The variables with which Sluice uses a folder of this benchmark instead of the user's folders.
    ///
    /// All rounds share it, because a first start ever, which makes the folders, takes longer than others.
    func sluiceVariables(_ site: Site) -> [String: String] {
        let home = "\(site.folder)/home of \(name)"
        return ["XDG_STATE_HOME": "\(home)/state", "XDG_CONFIG_HOME": "\(home)/config"]
    }

    /// Starts Sluice, recording to a new session.
    func startSluice(for traffic: Traffic, in folder: String, site: Site, origin: Origin) throws -> Hop {
        let port = try freePort()
        var arguments = ["run", "--quiet", "--listen", "127.0.0.1:\(port)", "--session", Subject.session(in: folder)]
        arguments += ["--ca", site.authority, "--ca-key", site.authorityKey, "--upstream-ca", site.authority]
        if traffic == .newHosts {
            let profile = "\(folder)/hosts.yaml"
            let rules = "version: 1\ndns-spoofing: [ { host: \"*.\(Site.domain)\", address: \"127.0.0.1\" } ]\n"
            try rules.write(toFile: profile, atomically: true, encoding: .utf8)
            arguments += ["--profile", profile]
        }
        return try Hop(
            ChildProcess(program, arguments, log: "\(folder)/sluice.log", environment: sluiceVariables(site)),
            folder: folder,
            routes: .forwardProxy(port: port, origin: origin)
        )
    }

    private static func session(in folder: String) -> String { "\(folder)/session.sluice" }

    /// The size of the session in a folder, with the files beside it, in bytes.
    static func sessionSize(in folder: String) throws -> Int {
        try ["", "-wal"].map { session(in: folder) + $0 }
            .filter { FileManager.default.fileExists(atPath: $0) }
            .reduce(0) { try $0 + fileSize($1) }
    }
}

/// The size of a file in bytes.
func fileSize(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
}
