import Foundation
import HTTPModel
import NIOCore
import Wire

/// The variables of a command that uses the proxy and trusts its authority.
///
/// All requests use the proxy, also requests to this machine, because a server under test often runs here. `NO_PROXY`
/// is therefore not inherited. Go and Ruby never use a proxy for `localhost` and loopback addresses; to record those,
/// use a name such as `myhost.test` in `/etc/hosts`. To exclude hosts, set the variable for the command: `sluice run --
/// env NO_PROXY=db.example npm test`.
struct ChildEnvironment {
    let inherited: [String: String]
    let host: String
    let port: Int
    let trust: TrustFiles
    var credentials: BasicCredentials?

    /// If the proxy listens on all addresses, the command gets the loopback address.
    init(inherited: [String: String], proxy: SocketAddress, trust: TrustFiles) {
        (self.inherited, self.trust) = (inherited, trust)
        (host, port) = (proxy.reachable.ipAddress ?? "127.0.0.1", proxy.port ?? 0)
    }

    var proxyURL: String {
        // Sluice generates user and password; they need no percent-encoding.
        let user = credentials.map { String(fieldBytes: $0.user + [UInt8(ascii: ":")] + $0.password) + "@" } ?? ""
        return "http://\(user)\(HostAddress.withPort(host, port))"
    }

    var variables: [String: String] {
        var variables = inherited
        for name in ClientVariable.removed { variables[name] = nil }
        for variable in ClientVariable.all {
            variables[variable.name] =
                switch variable.content {
                case .proxy: proxyURL
                case .authority: trust.authority
                case .additions: trust.additions
                case .bundle: trust.bundle
                case .text(let text): text
                }
        }
        variables["JAVA_TOOL_OPTIONS"] = javaOptions
        variables["WGETRC"] = trust.wgetSettings
        // An empty entry stands for the directory that was compiled into PHP.
        variables["PHP_INI_SCAN_DIR"] = (inherited["PHP_INI_SCAN_DIR"] ?? "") + ":" + trust.phpDirectory
        addGitConfiguration(to: &variables)
        return variables
    }

    /// A sentence for each variable of the user that the command does not get.
    var notes: [String] {
        var notes: [String] = []
        for name in ["NO_PROXY", "no_proxy"] {
            guard let value = inherited[name], !value.isEmpty else { continue }
            notes.append("\(name) (\(value)) is not handed to the command: all its requests shall pass Sluice")
        }
        let proxies = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]
        if let name = proxies.first(where: { inherited[$0]?.isEmpty == false }) {
            notes.append("\(name) is set; Sluice does not use that proxy, and the command uses Sluice in its place")
        }
        if inherited["JAVA_TOOL_OPTIONS"]?.contains(Self.javaTrustStore) == true {
            notes.append("the trust store in JAVA_TOOL_OPTIONS is replaced by one with the system's authorities")
        }
        return notes
    }

    private static let javaTrustStore = "-Djavax.net.ssl.trustStore="

    /// Every Java runtime reads `JAVA_TOOL_OPTIONS` and prints it on standard error. The last of equal options counts.
    private var javaOptions: String {
        let options = [
            "-Dhttp.proxyHost=\(host)", "-Dhttp.proxyPort=\(port)",
            "-Dhttps.proxyHost=\(host)", "-Dhttps.proxyPort=\(port)",
            // An empty list removes Java's default exceptions for loopback hosts.
            "-Dhttp.nonProxyHosts=",
            "\(Self.javaTrustStore)\(trust.javaStore)", "-Djavax.net.ssl.trustStoreType=PKCS12",
            "-Djavax.net.ssl.trustStorePassword=\(TrustFiles.javaPassword)",
        ]
        let former = [inherited["JAVA_TOOL_OPTIONS"] ?? ""].filter { !$0.isEmpty }
        return (former + options.map(Self.quoted)).joined(separator: " ")
    }

    /// Java splits the variable at unquoted spaces.
    private static func quoted(_ option: String) -> String {
        guard option.contains(where: \.isWhitespace) else { return option }
        return option.contains("\"") ? "'\(option)'" : "\"\(option)\""
    }

    /// Git's setting `http.proxy` overrides the proxy variables. `GIT_CONFIG_…` variables override that setting.
    private func addGitConfiguration(to variables: inout [String: String]) {
        let count = max(0, inherited["GIT_CONFIG_COUNT"].flatMap { Int($0) } ?? 0)
        variables["GIT_CONFIG_COUNT"] = "\(count + 1)"
        variables["GIT_CONFIG_KEY_\(count)"] = "http.proxy"
        variables["GIT_CONFIG_VALUE_\(count)"] = proxyURL
    }
}
