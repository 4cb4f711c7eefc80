package import Foundation
import HTTPModel
import Recording
package import Rules
package import Store
package import Telemetry
import Text

/// The protocol of the control socket: one JSON object per line, and one reply per request, in the same order.
///
/// Scripts may speak it with any client of local sockets, for example `nc -N -U "$XDG_RUNTIME_DIR/sluice/PID.sock"`:
///
/// ```
/// {"command":"status"}
/// {"command":"stop"}                                             like SIGTERM
/// {"command":"tool.list"}
/// {"command":"tool.set","tool":"rewrite","on":false}             also "tools":[…], and "all"
/// {"command":"tool.reset","tool":"map-local"}                   starts its counts again; also "tools":[…], and "all"
/// {"command":"hold.list"}
/// {"command":"hold.show","id":"12.1"}
/// {"command":"hold.edit","id":"12.1","edit":{"status":404,"headers":[{"name":"X","value":"y"}]}}
/// {"command":"hold.execute","ids":["12.1","13.1"]}               likewise hold.cancel, hold.abort; "id":"all"
/// {"command":"decrypt","host":"api.example.com:443"}            without a port: all ports of the host
/// {"command":"insecure-host","host":"localhost","on":true}       not verified; without "on": toggles
/// {"command":"record.set","on":false}                            new exchanges are not recorded
/// {"command":"delete","exchanges":"1-5,9"}                       undone by "restore" until Sluice ends
/// {"command":"restore","mark":1763850000000000}                  without "mark": the last deletion
/// {"command":"annotate","exchanges":"12","comment":"flaky"}      also "colour":"red"; "" removes the comment or colour
/// {"command":"profile.reload"}                                   "force":true discards unsaved edits
/// {"command":"profile.reload","files":["/home/ann/other.yaml"]}  replaces the files of the profile
/// {"command":"profile.show"}
/// {"command":"profile.apply","profiles":[{"file":"p.yaml","text":"version: 1\n…"}]}
/// {"command":"profile.save","files":["p.yaml"]}                  without "files": all; "force":true overwrites
/// ```
///
/// A reply has `"ok":true` and the result (`status`, `tools`, `holds`, `hold`, `decided` and `gone`, `profiles`, `saved`,
/// `changed`, `message`), or `"ok":false`, an `error` and perhaps a `hint`. An unknown member of a request is an error.
/// ``HoldEdit`` describes edits.
package enum ControlProtocol {
    /// It increases with each change that older clients do not understand.
    package static let version = 1
    /// In bytes, for requests and replies. A held body is sent in one line.
    package static let longestLine = 64 << 20
    /// In bytes after content decoding. The body must fit in one line after JSON escaping.
    package static let longestShownBody = 8 << 20
}

struct ControlRequest: Codable, Sendable, Hashable {
    enum Command: String, Codable, CaseIterable, Sendable {
        case status, stop
        case toolList = "tool.list"
        case toolSet = "tool.set"
        case toolReset = "tool.reset"
        case holdList = "hold.list"
        case holdShow = "hold.show"
        case holdEdit = "hold.edit"
        case holdExecute = "hold.execute"
        case holdCancel = "hold.cancel"
        case holdAbort = "hold.abort"
        case decrypt
        case insecureHost = "insecure-host"
        case recordSet = "record.set"
        case delete, restore, annotate
        case profileReload = "profile.reload"
        case profileShow = "profile.show"
        case profileApply = "profile.apply"
        case profileSave = "profile.save"

        init(from decoder: any Decoder) throws {
            let word = try String(from: decoder)
            guard let command = Command(rawValue: word) else {
                let words = Command.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError("There is no command '\(word.prefix(40))'.", hint: "There are: \(words).")
            }
            self = command
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case command, tool, tools, on, id, ids, edit, host, exchanges, mark, comment, colour
        case profiles, files, rules, force
    }

    var command: Command
    var tool: String?
    var tools: [String]?
    var on: Bool?
    var id: String?
    var ids: [String]?
    var edit: HoldEdit?
    var host: String?
    /// Numbers and ranges: `1-5,9`.
    var exchanges: String?
    var mark: Int64?
    var comment: String?
    var colour: String?
    var profiles: [ProfileSource]?
    var files: [String]?
    /// The ``ProfileInForce/rules`` of the texts that were edited into `profiles`.
    var rules: String?
    var force: Bool?

    func needed<Value>(_ value: Value?, _ what: String) throws(ControlError) -> Value {
        guard let value else { throw ControlError("'\(command.rawValue)' needs \(what).") }
        return value
    }
}

/// Throws if a member is unknown, so that a misspelt member is not ignored.
struct StrictRequest: Decodable {
    let request: ControlRequest

    init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownMembers(of: ControlRequest.CodingKeys.self)
        request = try ControlRequest(from: decoder)
        guard request.profiles != nil else { return }
        let members = try decoder.container(keyedBy: ControlRequest.CodingKeys.self)
        var profiles = try members.nestedUnkeyedContainer(forKey: .profiles)
        while !profiles.isAtEnd { try profiles.superDecoder().refuseUnknownMembers(of: ProfileSource.CodingKeys.self) }
    }
}

struct ControlReply: Codable, Sendable {
    var ok = true
    var error: String?
    var hint: String?
    var conflict: SavingConflict?
    var status: ControlStatus?
    var tools: [ToolState]?
    var holds: [HoldSummary]?
    var hold: HoldDetails?
    var decided: [String]?
    var gone: [String]?
    var profiles: [ProfileSource]?
    /// The ``ProfileInForce/rules`` of `profiles`.
    var rules: String?
    var saved: [String]?
    var changed: SessionEditResult?
    var message: String?

    var profile: ProfileInForce? { profiles.map { ProfileInForce(profiles: $0, rules: rules ?? "") } }

    var failure: ControlError? {
        ok ? nil : ControlError(error ?? "The running Sluice refused.", hint: hint ?? "", conflict: conflict)
    }
}

extension ControlReply {
    init(_ failure: ControlError) {
        let hint = failure.hint.isEmpty ? nil : failure.hint
        self.init(ok: false, error: failure.message, hint: hint, conflict: failure.conflict)
    }

    init(_ profile: ProfileInForce, message: String? = nil) {
        self.init(profiles: profile.profiles, rules: profile.rules, message: message)
    }
}

package struct ControlStatus: Codable, Sendable, Hashable {
    package var `protocol` = ControlProtocol.version
    package var version: String
    /// `host:port` of the forward proxy, or of the first listener if there is no forward proxy.
    package var address: String
    package var listeners: [ListenerState] = []
    package var pid: Int32
    package var authority = AuthorityInUse(path: "", certificate: Data())
    /// `Proxy-Authorization` for requests through the proxy.
    package var proxyAuthorization: String?
    /// The value of `X-Sluice-Mark` in the proxy's own answers.
    package var mark = ""
    package var session: String?
    package var recordingProblem: String?
    package var recording = RecordingState(isOn: true)
    package var store: Shipper.Status?
    /// `nil` without `--otlp`.
    package var spans: SpanCounts?
    /// Increases whenever exchanges are deleted, restored, commented or coloured.
    package var edits = 0
    /// Also the included files.
    package var profiles: [String] = []
    package var tools: [ToolState] = []
    package var holds = 0
    /// ``ProfileInForce/rules``.
    package var rules = ""
}

extension ControlStatus {
    /// `nil` if no listener is a forward proxy.
    package var forwardAddress: String? { listeners.first(where: \.isForward)?.address }
}

package struct ListenerState: Codable, Sendable, Hashable {
    static let forward = "regular"

    /// In the form of `--mode`.
    package var mode: String
    /// `host:port`.
    package var address: String

    package init(mode: String, address: String) { (self.mode, self.address) = (mode, address) }

    package var isForward: Bool { mode == ListenerState.forward }
}

package struct RecordingState: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case isOn = "on"
        case passed, leftOut
    }

    package var isOn: Bool
    /// Exchanges that began while recording was off.
    package var passed: Int
    /// Exchanges that the profile's `record` excludes.
    package var leftOut: Int

    package init(isOn: Bool, passed: Int = 0, leftOut: Int = 0) {
        (self.isOn, self.passed, self.leftOut) = (isOn, passed, leftOut)
    }
}

package struct AuthorityInUse: Codable, Sendable, Hashable {
    package var path: String
    /// DER.
    package var certificate: Data
    /// SHA-256 of the public key (SubjectPublicKeyInfo) that all minted certificates share, in Base64.
    package var leafKeyHash: String?
}

package struct ToolState: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case name
        case isOn = "on"
        case rules, enabled, counts
    }

    package var name: String
    package var isOn: Bool
    package var rules: Int
    package var enabled: Int
    /// The rules that count their requests; `nil` if there is no such rule.
    package var counts: [RuleCount]?
}

enum ControlLine {
    /// With a line feed; control and invisible characters are escaped.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Data(VisibleText.json(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8) + [0x0A]
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ line: Data) throws(ControlError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: line)
        } catch let failure as ControlError {
            throw failure
        } catch {
            let reason = (error as? DecodingError).map { ": \(describe($0))" } ?? ""
            throw ControlError("The line is not understood\(reason).")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return path.isEmpty ? "it" : "'\(path.joined(separator: "."))'"
        }
        return switch error {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context): "\(place(context)) has another type"
        case .valueNotFound(_, let context): "\(place(context)) is null"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: "\(place(context)) cannot be read"
        default: "it is not JSON"
        }
    }
}

extension Decoder {
    func refuseUnknownMembers<Key: CodingKey & CaseIterable>(of: Key.Type) throws {
        let known = Key.allCases.map(\.stringValue)
        for key in try container(keyedBy: AnyMember.self).allKeys where !known.contains(key.stringValue) {
            let hint = "There are: \(known.joined(separator: ", "))."
            throw ControlError("There is no member '\(key.stringValue.prefix(40))'.", hint: hint)
        }
    }
}

private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}
