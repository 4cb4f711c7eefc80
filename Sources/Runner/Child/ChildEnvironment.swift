import Foundation
import HTTPModel
import NIOCore
import Wire

/// The variables of a command that is to use the proxy and trust its authority.
///
/// All requests go through the proxy, those to this machine too, since these are often what is tested: `NO_PROXY` is
/// not passed on. Go and Ruby never use a proxy for `localhost` and loopback addresses, whatever the variables; to
/// record those, use a name such as `myhost.test` in `/etc/hosts`. To leave hosts out, let the command set the
/// variable: `sluice run -- env NO_PROXY=db.example npm test`.
struct ChildEnvironment {
    /// The variables that Sluice was started with.
    let inherited: [String: String]
    /// The proxy's host, as an address, and its port.
    let host: String
    let port: Int
    let trust: TrustFiles
    /// The user and the password that the proxy asks for.
    var credentials: BasicCredentials?

    /// Where the proxy listens on all addresses, the command uses the loopback one.
    init(inherited: [String: String], proxy: SocketAddress, trust: TrustFiles) {
        self.inherited = inherited
        self.trust = trust
        switch proxy.ipAddress {
        case "0.0.0.0": host = "127.0.0.1"
        case "::": host = "::1"
        case let address: host = address ?? "127.0.0.1"
        }
        port = proxy.port ?? 0
    }

    var proxyURL: String {
        // Both are made by us, and need no percent-encoding.
        let user = credentials.map { String(fieldBytes: $0.user + [UInt8(ascii: ":")] + $0.password) + "@" } ?? ""
        return "http://\(user)\(host.contains(":") ? "[\(host)]" : host):\(port)"
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
        // An empty entry stands for the directories that PHP was built for.
        variables["PHP_INI_SCAN_DIR"] = (inherited["PHP_INI_SCAN_DIR"] ?? "") + ":" + trust.phpDirectory
        addGitConfiguration(to: &variables)
        return variables
    }

    /// A sentence for each variable that the user set and the command does not get.
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

    // MARK: - Java

    private static let javaTrustStore = "-Djavax.net.ssl.trustStore="

    /// Every Java machine reads `JAVA_TOOL_OPTIONS` (and prints it on standard error); the last of two options counts.
    private var javaOptions: String {
        let options = [
            "-Dhttp.proxyHost=\(host)", "-Dhttp.proxyPort=\(port)",
            "-Dhttps.proxyHost=\(host)", "-Dhttps.proxyPort=\(port)",
            // Empty, it removes Java's default exceptions for loopback hosts.
            "-Dhttp.nonProxyHosts=",
            "\(Self.javaTrustStore)\(trust.javaStore)", "-Djavax.net.ssl.trustStoreType=PKCS12",
            "-Djavax.net.ssl.trustStorePassword=\(TrustFiles.javaPassword)",
        ]
        let former = [inherited["JAVA_TOOL_OPTIONS"] ?? ""].filter { !$0.isEmpty }
        return (former + options.map(Self.quoted)).joined(separator: " ")
    }

    /// Java splits the variable at spaces that are not within quotes.
    private static func quoted(_ option: String) -> String {
        guard option.contains(where: \.isWhitespace) else { return option }
        return option.contains("\"") ? "'\(option)'" : "\"\(option)\""
    }

    // MARK: - Git

    /// Git's own setting `http.proxy` overrides the variables for proxies, and these variables override the setting.
    private func addGitConfiguration(to variables: inout [String: String]) {
        let count = max(0, inherited["GIT_CONFIG_COUNT"].flatMap { Int($0) } ?? 0)
        variables["GIT_CONFIG_COUNT"] = "\(count + 1)"
        variables["GIT_CONFIG_KEY_\(count)"] = "http.proxy"
        variables["GIT_CONFIG_VALUE_\(count)"] = proxyURL
    }
}
