import Files
import HTTPModel
import ProxyServer
package import Rules
import Wire

/// How Sluice reaches servers, and its credentials for them: from options, the profile, and the profile's files.
package struct ServerAccess: Sendable {
    /// Passwords that the user typed at the start, by the path of the protected file.
    typealias Secrets = [String: String]

    private let option: UpstreamOption?
    private var proxies: [ProfilePlace: UpstreamProxy] = [:]
    private var rules = UpstreamRules()
    private var certificates = ClientCertificateRules()
    private var identities: [TLSClientIdentity?] = []

    /// Connections are direct, or as the option says, without credentials.
    init(option: UpstreamOption? = nil) { self.option = option }

    /// Reads the files of a profile. `ask` asks the user for a file's password; it returns `nil` if there is no answer.
    init(
        _ profile: RuleProfile?,
        option: UpstreamOption?,
        secrets: inout Secrets,
        ask: ((_ path: String) throws -> String?)? = nil
    ) throws {
        self.option = option
        guard let profile else { return }
        (rules, certificates) = (profile.upstream, profile.clientCertificates)
        for rule in rules.rules where rule.heading.isEnabled {
            if let proxy = try Self.proxy(of: rule) { proxies[rule.heading.place] = proxy }
        }
        for rule in certificates.rules {
            identities.append(rule.isEnabled ? try Self.identity(rule, &secrets, ask) : nil)
        }
    }

    /// The errors in passwords, certificates and keys at a start. A password that Sluice would ask for is not an error.
    package static func problems(in profile: RuleProfile) -> [ProfileError] {
        func failure(_ body: () throws -> Void) -> ProfileError? {
            do {
                try body()
                return nil
            } catch {
                return error as? ProfileError
            }
        }
        let ofProxies = profile.upstream.rules.filter(\.heading.isEnabled).compactMap { rule in
            failure { _ = try proxy(of: rule) }
        }
        let ofCertificates = profile.clientCertificates.rules.filter(\.isEnabled).compactMap { rule in
            failure {
                var secrets = Secrets()
                _ = try identity(rule, &secrets) { _ in throw CancellationError() }
            }
        }
        return ofProxies + ofCertificates
    }

    /// The rule's proxy with the password from the password file.
    private static func proxy(of rule: UpstreamRules.Rule) throws(ProfileError) -> UpstreamProxy? {
        guard var proxy = rule.proxy, let file = rule.passwordFile else { return rule.proxy }
        let password = try password(file, at: rule.heading.place)
        do throws(UpstreamProxy.SyntaxError) {
            try UpstreamProxy.checkPassword(password)
        } catch {
            throw ProfileError("\(file): \(error)", at: rule.heading.place)
        }
        proxy.password = password
        return proxy
    }

    func apply(to rules: inout ProxyRules) {
        if option != nil || !self.rules.rules.isEmpty { rules.route = { route($0) } }
        if !certificates.rules.isEmpty { rules.identity = { identity(host: $0, port: $1) } }
    }

    private func route(_ url: RequestURL) -> UpstreamRoute {
        guard let rule = rules.rule(for: url) else { return option?.route(url) ?? .direct }
        let reason = "upstream '\(rule.heading.name)'"
        guard let proxy = proxies[rule.heading.place] else { return .bypassing(reason: reason) }
        return rule.bypasses(url) ? .bypassing(reason: "bypassed by \(reason)") : .through(proxy, reason: reason)
    }

    private func identity(host: String, port: Int) -> TLSClientIdentity? {
        certificates.index(host: host, port: port).flatMap { identities.indices.contains($0) ? identities[$0] : nil }
    }

    private static let passwordLimit = 4_096

    private static func password(_ path: String, at place: ProfilePlace) throws(ProfileError) -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try InputFile.contents(of: path, atMost: passwordLimit + 1)
        } catch {
            throw ProfileError("\(error)", at: place)
        }
        guard bytes.count <= passwordLimit, let text = String(validating: bytes, as: UTF8.self) else {
            throw ProfileError("\(path) is not a password file, which has one line of text", at: place)
        }
        let password = String(text.prefix { !$0.isNewline })
        if password.isEmpty { throw ProfileError("\(path) has no password in its first line", at: place) }
        return password
    }

    private static func identity(
        _ rule: ClientCertificateRules.Rule,
        _ secrets: inout Secrets,
        _ ask: ((_ path: String) throws -> String?)?
    ) throws -> TLSClientIdentity {
        let password = try rule.passwordFile.map { try Self.password($0, at: rule.place) }
        func load(_ password: String?) throws(TLSClientIdentity.Problem) -> TLSClientIdentity {
            try TLSClientIdentity.load(name: rule.name, file: rule.file, keyFile: rule.keyFile, password: password)
        }
        do throws(any Error) {
            do throws(TLSClientIdentity.Problem) {
                return try load(password)
            } catch .needsPassword(let path) {
                guard let known = secrets[path] else { return try prompted(rule, path, &secrets, ask, load) }
                return try load(known)
            }
        } catch let problem as TLSClientIdentity.Problem {
            throw ProfileError(text(of: problem), at: rule.place)
        }
    }

    private static let attempts = 3

    /// Loads a file that needs a typed password. Only a correct password is kept.
    private static func prompted(
        _ rule: ClientCertificateRules.Rule,
        _ path: String,
        _ secrets: inout Secrets,
        _ ask: ((_ path: String) throws -> String?)?,
        _ load: (String?) throws(TLSClientIdentity.Problem) -> TLSClientIdentity
    ) throws -> TLSClientIdentity {
        for attempt in 0..<attempts {
            guard let typed = try ask?(attempt == 0 ? path : "\(path) (that one was wrong)") else {
                throw TLSClientIdentity.Problem.needsPassword(path: path)
            }
            do throws(TLSClientIdentity.Problem) {
                let identity = try load(typed)
                secrets[path] = typed
                return identity
            } catch .wrongPassword {
                continue
            }
        }
        throw ProfileError("\(path): none of the \(attempts) passwords that were typed opens it", at: rule.place)
    }

    private static func text(of problem: TLSClientIdentity.Problem) -> String {
        switch problem {
        case .unusable(let error), .wrongPassword(let error): "\(error)"
        case .needsPassword(let path):
            "\(path): needs a password. Put it into the first line of a file, and name that under 'password-file'; "
                + "it is asked for only at the start, on a terminal."
        }
    }
}
