import Rules
import Tools
import Wire

/// The files that a proxy needs before it begins: its profile and the authorities.
///
/// They are read before anything is begun that has to be ended well, so that until then a signal may end the process. The
/// output of a command, as the shell's `<(…)` names it, will do for a file; it is waited for, but not when it is silent for
/// five seconds.
package struct StartFiles: Sendable {
    let profile: RuleProfile?
    let authority: CertificateAuthority
    let trust: TLSTrust

    /// Reads the files that the settings name.
    ///
    /// - Throws: `StartFailure` or `CertificateFailure` where one cannot be used.
    package init(_ settings: RunSettings) throws {
        do throws(ProfileError) {
            profile =
                settings.profiles.isEmpty ? nil : try RuleProfile.load(paths: settings.profiles, takesPipes: true)
        } catch {
            // Its errors keep the form that editors look for.
            throw StartFailure(error.description, isPositioned: true)
        }
        authority = try RunningProxy.loadAuthority(settings)
        trust = TLSTrust(extraFiles: settings.upstreamAuthorities)
        // A file that cannot be used must be known now, not at the first server.
        if !settings.upstreamAuthorities.isEmpty { try trust.loadExtraFiles() }
    }
}
