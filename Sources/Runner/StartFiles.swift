import Files
import HTTPModel
import Jobs
import ProxyServer
package import Rules
import Telemetry
import Tools
import Wire

/// The profile, the authorities and the users of a proxy.
///
/// The files are read before anything is started, so that a signal can simply end the process until then. A file may be
/// a pipe (`<(…)`); Sluice gives up if the pipe is silent for five seconds.
package struct StartFiles: Sendable {
    let profile: RuleProfile?
    let authority: CertificateAuthority
    let trust: TLSTrust
    /// `nil` if clients need no password.
    let authentication: ProxyAuthentication?
    let access: ServerAccess
    let secrets: ServerAccess.Secrets

    /// Throws ``StartError`` if there are assertions and nothing is recorded.
    package func checkAssertions(_ settings: RunSettings) throws {
        guard settings.recordsNothing, let assertion = profile?.assertions.first else { return }
        throw StartError(
            "\(assertion.place): the assertions need a session, and --no-session records none.",
            hint: "Leave out --no-session, or 'assert' in the profile.",
            isUsage: true,
            isPositioned: true
        )
    }

    package var replay: ReplayRules { profile?.replay ?? ReplayRules() }

    /// Throws `StartError` or `CertificateError`. Asks for missing passwords on a terminal.
    package init(_ settings: RunSettings) throws {
        // An empty name probably comes from an unset shell variable.
        let empty = settings.session?.isEmpty == true ? "--session" : settings.profiles.contains("") ? "--profile" : nil
        if let empty {
            throw StartError("\(empty) has an empty name.", hint: "Perhaps a shell variable is not set.", isUsage: true)
        }
        for listener in settings.listeners {
            try settings.upstreamProxy?.check(listeningOn: listener.host, port: listener.port)
            if let endpoint = settings.spans?.endpoint, listener.leads(host: endpoint.host, port: endpoint.port) {
                let hint = "Each batch of spans would be a new exchange; name the port of the receiver."
                throw StartError("--otlp leads to this Sluice itself.", hint: hint, isUsage: true)
            }
        }
        do {
            let paths = settings.profiles
            let profile = paths.isEmpty ? nil : try RuleProfile.load(paths: paths, takesPipes: true)
            var secrets = ServerAccess.Secrets()
            let ask = PasswordPrompt.isPossible ? PasswordPrompt.ask : nil
            access = try ServerAccess(profile, option: settings.upstreamProxy, secrets: &secrets, ask: ask)
            (self.profile, self.secrets) = (profile, secrets)
        } catch let error as ProfileError {
            // Editors read positions in this form.
            throw StartError(error.description, isPositioned: true)
        }
        authentication = try settings.proxyUsers.map {
            ProxyAuthentication(try ProxyUsersFile.read($0, takesPipes: true))
        }
        authority = try RunningProxy.loadAuthority(settings)
        trust = TLSTrust(extraFiles: settings.upstreamAuthorities)
        // Errors are reported now, not at the first server.
        if !settings.upstreamAuthorities.isEmpty { try trust.loadExtraFiles() }
    }
}
