package import ExchangeCore
package import HTTPModel
package import Rules
package import Testing
import Tools

/// The issues that a text has as a profile, in short: `line:column message`.
package func issues(_ text: String) -> [String] {
    do throws(ProfileError) {
        return try RuleProfile(text, file: "p.yaml").lints.map { "\($0.line):\($0.column) lint \($0.message)" }
    } catch {
        return error.issues.map { "\($0.line):\($0.column) \($0.severity == .lint ? "lint " : "")\($0.message)" }
    }
}

/// A dialogue under a profile's tools.
package func dialogue(
    _ profile: RuleProfile,
    _ url: String,
    method: String = "GET",
    kind: ExchangeRecord.Kind = .http,
    claim: NameClaim? = nil,
    location: SourceLocation = #_sourceLocation
) -> Dialogue {
    Dialogue(chain: profile.chain, url: url, method: method, kind: kind, claim: claim, location: location)
}

/// What became of a request: `passed`, `403` or `dropped`; `isNamed` is what a look-up of the client's name for an address
/// says, without which none may be asked for.
package func outcome(
    _ profile: RuleProfile,
    _ url: String,
    kind: ExchangeRecord.Kind = .http,
    claim: NameClaim? = nil,
    isNamed: Bool? = nil
) -> String {
    let dialogue = dialogue(profile, url, method: kind == .http ? "GET" : "CONNECT", kind: kind, claim: claim)
    dialogue.request()
    var lines = dialogue.takePending()
    if let isNamed, lines.first?.hasPrefix("look up ") == true {
        dialogue.tell { $0.nameLookedUp(isVerified: isNamed, now: $1) }
        lines = dialogue.takePending()
    }
    if dialogue.isOver {
        dialogue.finish()
        return lines.first == "abort" ? "dropped" : "\(dialogue.record.status)"
    }
    dialogue.leaveOpen()
    return lines.first?.hasPrefix("connect") == true ? "passed" : "unclear"
}

/// A rewrite tool with one set of these rules, for everything.
package func rewriting(_ rules: String...) -> String {
    "rewrite:\n  - name: set\n    at: '*'\n    rules:\n" + rules.map { "      - \($0)\n" }.joined()
}
