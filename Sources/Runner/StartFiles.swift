import Files
import Jobs
import ProxyServer
package import Rules
import Tools
import Wire

/// The files that a proxy needs before it begins: its profile and the authorities.
///
/// They are read before anything is started that must be stopped, so that until then a signal may end the process. A
/// file may be the output of a command, the shell's `<(…)`, which is given up after five seconds of silence.
package struct StartFiles: Sendable {
    let profile: RuleProfile?
    let authority: CertificateAuthority
    let trust: TLSTrust
    /// Asks clients for a user and a password; `nil` where they need none.
    let authentication: ProxyAuthentication?
    let access: ServerAccess
    let secrets: ServerAccess.Secrets

    /// Throws ``StartError`` where the profile has assertions that nothing could be checked against.
    package func checkAssertions(_ settings: RunSettings) throws {
        guard settings.recordsNothing, let assertion = profile?.assertions.first else { return }
        throw StartError(
            "\(assertion.place): the assertions need a session, and --no-session records none.",
            hint: "Leave out --no-session, or 'assert' in the profile.",
            isUsage: true,
            isPositioned: true
        )
    }

    /// What the profile says of replays.
    package var replay: ReplayRules { profile?.replay ?? ReplayRules() }

    /// Reads the files; throws `StartError` or `CertificateError` where one cannot be used.
    ///
    /// On a terminal a password that is needed, and in no file, is asked for.
    package init(_ settings: RunSettings) throws {
        // A path that a variable of the shell was to give.
        let empty = settings.session?.isEmpty == true ? "--session" : settings.profiles.contains("") ? "--profile" : nil
        if let empty {
            throw StartError("\(empty) has an empty name.", hint: "Is a variable of the shell not set?", isUsage: true)
        }
        for listener in settings.listeners {
            try settings.upstreamProxy?.check(listeningOn: listener.host, port: listener.port)
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
        // A file that cannot be used is reported now, and not at the first server.
        if !settings.upstreamAuthorities.isEmpty { try trust.loadExtraFiles() }
    }
}
