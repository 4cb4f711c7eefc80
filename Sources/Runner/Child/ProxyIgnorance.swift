/// Why clients do not use the proxy that the variables name.
enum ProxyIgnorance {
    private static let otherName = "use another name for this machine, such as myhost.test in /etc/hosts"

    /// One entry per runtime. `suffix` is for programs whose names differ, such as Go's tests.
    private static let all: [(names: [String], suffix: String?, reason: String)] = [
        (["node"], nil, "Node before 22.21 ignores proxy variables, as do clients with an agent of their own"),
        (["python", "pypy"], nil, "Python: aiohttp uses the proxy only with ClientSession(trust_env=True)"),
        (["go"], ".test", "Go uses no proxy for localhost: \(otherName)"),
        (["ruby"], nil, "Ruby uses no proxy for localhost: \(otherName)"),
        (["java"], nil, "Java: Apache HttpClient needs useSystemProperties(), Netty proxyWithSystemProperties()"),
        (["php"], nil, "PHP: streams such as file_get_contents() ignore proxy variables; the curl extension uses them"),
    ]

    static let general =
        "proxy variables are ignored by Node before 22.21, by aiohttp without trust_env, for localhost by Go and Ruby"

    static func reasons(for programs: Set<String>) -> [String] {
        all.filter { runtime in
            programs.contains { program in
                if let suffix = runtime.suffix, program.hasSuffix(suffix) { return true }
                return runtime.names.contains { isProgram(program, $0) }
            }
        }.map(\.reason)
    }

    /// Whether a program is `name`, perhaps with a version.
    private static func isProgram(_ program: String, _ name: String) -> Bool {
        program.hasPrefix(name) && program.dropFirst(name.count).allSatisfy { $0.isNumber || ".-".contains($0) }
    }
}
