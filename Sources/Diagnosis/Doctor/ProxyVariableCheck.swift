import Jobs
import Runner

/// The proxy variables of the environment: clients of this shell use them, Sluice only on demand.
struct ProxyVariableCheck {
    let environment: [String: String]
    let host: String
    let port: Int

    private static let about = "proxies"
    private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let exceptions = ["no_proxy", "NO_PROXY"]

    func findings() -> [Finding] {
        let set = Self.names.filter { environment[$0]?.isEmpty == false }
        let exceptions = Self.exceptions.filter { environment[$0]?.isEmpty == false }
        let found = set.isEmpty ? .ok(Self.about, "the environment names none") : proxies(set)
        guard let first = exceptions.first else { return [found] }
        let hosts = environment[first] ?? ""
        let text = "programs of this shell ask \(hosts) without any proxy (\(exceptions.joined(separator: ", ")))"
        return [found, .note(Self.about, text, fix: "unset \(exceptions.joined(separator: " "))")]
    }

    /// Whether a variable names this Sluice.
    private func isOurs(_ name: String) -> Bool {
        guard let value = environment[name], let option = try? UpstreamOption("env", environment: [name: value]) else {
            return false
        }
        return (try? option.check(listeningOn: host, port: port)) == nil
    }

    private func proxies(_ set: [String]) -> Finding {
        let own = set.filter(isOurs)
        if !own.isEmpty {
            let text = "\(own.joined(separator: ", ")): this Sluice itself, so that --upstream-proxy env is refused"
            return .note(Self.about, text, fix: "unset \(own.joined(separator: " "))")
        }
        let names = set.joined(separator: ", ")
        do throws(StartError) {
            let proxies = try UpstreamOption("env", environment: environment).text
            let text = "\(names): \(proxies); Sluice ignores them without --upstream-proxy env"
            return .note(Self.about, text, fix: "sluice --upstream-proxy env")
        } catch {
            return .note(Self.about, error.message, fix: "unset \(set.joined(separator: " "))")
        }
    }
}
