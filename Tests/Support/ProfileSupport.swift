import ExchangeCore
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
    location: SourceLocation = #_sourceLocation
) -> Dialogue {
    Dialogue(profile.chain.stages, url: url, method: method, kind: kind, location: location)
}

/// What became of a request: `passed`, `403` or `dropped`.
package func outcome(_ profile: RuleProfile, _ url: String, kind: ExchangeRecord.Kind = .http) -> String {
    let dialogue = dialogue(profile, url, method: kind == .http ? "GET" : "CONNECT", kind: kind)
    dialogue.request()
    let lines = dialogue.takePending()
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
