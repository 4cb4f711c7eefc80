/// Why clients of a runtime do not use the proxy that the variables name.
struct ProxyIgnorance {
    let programs: [String]
    /// For a runtime whose programs have different names.
    var suffix: String?
    let reason: String

    private static let otherName = "use another name for this machine, such as myhost.test in /etc/hosts"

    static let all = [
        ProxyIgnorance(
            programs: ["node"],
            reason: "Node before 22.21 ignores proxy variables, as do clients with an agent of their own"
        ),
        ProxyIgnorance(
            programs: ["python", "pypy"],
            reason: "Python: aiohttp uses the proxy only with ClientSession(trust_env=True)"
        ),
        ProxyIgnorance(programs: ["go"], suffix: ".test", reason: "Go uses no proxy for localhost: \(otherName)"),
        ProxyIgnorance(programs: ["ruby"], reason: "Ruby uses no proxy for localhost: \(otherName)"),
        ProxyIgnorance(
            programs: ["java"],
            reason: "Java: Apache HttpClient needs useSystemProperties(), Netty proxyWithSystemProperties()"
        ),
        ProxyIgnorance(
            programs: ["php"],
            reason: "PHP: streams such as file_get_contents() ignore proxy variables; the curl extension uses them"
        ),
    ]

    static let general =
        "Node before 22.21, Python's aiohttp without trust_env, and Go and Ruby with localhost ignore proxy variables"

    static func reasons(for programs: Set<String>) -> [String] {
        all.filter { runtime in programs.contains { runtime.has($0) } }.map(\.reason)
    }

    private func has(_ program: String) -> Bool {
        if let suffix, program.hasSuffix(suffix) { return true }
        return programs.contains { name in
            program.hasPrefix(name) && program.dropFirst(name.count).allSatisfy { $0.isNumber || ".-".contains($0) }
        }
    }
}
