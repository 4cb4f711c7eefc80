import Foundation

#if os(Linux)
/// Whether this process may make network namespaces, with packet filters in them.
enum Namespaces {
    /// Why not; `nil` where it may.
    static let problem: String? = {
        if geteuid() != 0 { return "network namespaces with several users need root" }
        func ends(_ command: String) -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "(\(command)) >/dev/null 2>&1"]
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
        for tool in ["nft", "ip", "nsenter", "setpriv"] where !ends("command -v \(tool)") {
            return "there is no \(tool)"
        }
        if !ends("unshare -n true") { return "network namespaces are not allowed here" }
        return ends("unshare -n sh -c 'ip link set lo up && echo add table inet t | nft -f -'")
            ? nil : "packet filters are not allowed here, even in a namespace"
    }()
}
#endif
