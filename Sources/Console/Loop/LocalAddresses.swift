import NIOCore

/// The addresses under which other machines reach this one.
enum LocalAddresses {
    /// In text, without the ones of this machine alone and of one link; IPv4 first. Asks the system.
    static func all() -> [String] {
        let devices = (try? System.enumerateDevices()) ?? []
        let addresses = devices.compactMap { $0.address?.ipAddress }.filter(isReachable)
        var seen: Set<String> = []
        let unique = addresses.filter { seen.insert($0).inserted }
        return unique.filter { !$0.contains(":") } + unique.filter { $0.contains(":") }
    }

    static func isReachable(_ address: String) -> Bool {
        let address = address.lowercased()
        let isLocal = address.hasPrefix("127.") || address == "::1" || address == "0.0.0.0" || address == "::"
        // Those of one link (RFC 3927, RFC 4291 §2.5.6) need its name, or come where no other was given.
        return !isLocal && !address.hasPrefix("169.254.") && !address.hasPrefix("fe80:")
    }
}
