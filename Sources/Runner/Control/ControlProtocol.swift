package import Foundation
import HTTPModel
import Text

/// What goes over the control socket: one JSON object a line, a reply for each request, in order.
///
/// Scripts may speak it with any client of local sockets, for example `nc -N -U "$XDG_RUNTIME_DIR/sluice/PID.sock"`:
///
/// ```
/// {"command":"status"}
/// {"command":"stop"}                                             as SIGTERM does
/// {"command":"tool.list"}
/// {"command":"tool.set","tool":"rewrite","on":false}             also "tools":[…], and "all"
/// {"command":"hold.list"}
/// {"command":"hold.show","id":"12.1"}
/// {"command":"hold.edit","id":"12.1","edit":{"status":404,"headers":[{"name":"X","value":"y"}]}}
/// {"command":"hold.execute","ids":["12.1","13.1"]}               likewise hold.cancel, hold.abort; "id":"all"
/// {"command":"decrypt","host":"api.example.com:443"}            without a port for all of them
/// {"command":"insecure-host","host":"localhost","on":true}       its certificate is not verified; without "on" the other way
/// {"command":"record.set","on":false}                            new exchanges pass unrecorded
/// {"command":"delete","exchanges":"1-5,9"}                       undone by "restore" until Sluice ends
/// {"command":"restore","mark":1763850000000000}                  without "mark" the last deletion
/// {"command":"annotate","exchanges":"12","comment":"flaky"}      likewise "colour":"red"; "" removes either
/// {"command":"profile.reload"}                                   with "force":true edits that are not saved are lost
/// {"command":"profile.reload","files":["/home/ann/other.yaml"]}  puts these in force in place of the present ones
/// {"command":"profile.show"}
/// {"command":"profile.apply","profiles":[{"file":"p.yaml","text":"version: 1\n…"}]}
/// {"command":"profile.save","files":["p.yaml"]}                  without "files" all; "force":true overwrites
/// ```
///
/// A reply has `"ok":true` and what was asked for (`status`, `tools`, `holds`, `hold`, `decided` and `gone`,
/// `profiles`, `saved`, `changed`, `message`), or `"ok":false`, an `error` and perhaps a `hint`. Clients ignore members of a reply
/// that they do not know; an unknown member of a request is an error. ``HoldEdit`` says what an edit may have.
package enum ControlProtocol {
    /// The version in a `status`; it rises with every change that an older client does not understand.
    package static let version = 1
    /// The longest line either side takes, in bytes; a held body is sent in one.
    package static let longestLine = 64 << 20
    /// How much of a held body `hold.show` gives, in bytes after decoding; escaped, it must still fit a line.
    package static let longestShownBody = 8 << 20
}

/// What a client asks: a command, and the members that it takes.
struct ControlRequest: Codable, Sendable, Hashable {
    enum Command: String, Codable, CaseIterable, Sendable {
        case status, stop
        case toolList = "tool.list"
        case toolSet = "tool.set"
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
    /// The ``ProfileInForce/rules`` that `profiles` were made from.
    var rules: String?
    var force: Bool?

    /// Returns a member; throws where the command lacks it.
    func needed<Value>(_ value: Value?, _ what: String) throws(ControlError) -> Value {
        guard let value else { throw ControlError("'\(command.rawValue)' needs \(what).") }
        return value
    }
}

/// A request that has no unknown member: a misspelt one is an error, so that it is not taken for an absent one.
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

/// What a running Sluice answers; members that are `nil` are left out of the JSON object.
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
    var changed: Changed?
    var message: String?

    /// A ``SessionEditResult``.
    struct Changed: Codable, Sendable {
        var exchanges: Int
        var inFlight: Int
        var mark: Int64?
    }

    var profile: ProfileInForce? { profiles.map { ProfileInForce(profiles: $0, rules: rules ?? "") } }

    /// Why the command was not carried out; `nil` where it was.
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
    /// The proxy's address, as `host:port`: where it is a forward proxy, else its first listener's.
    package var address: String
    /// All listeners; `nil` from an older Sluice, which is a forward proxy.
    package var listeners: [ListenerState]?
    package var pid: Int32
    /// The authority that signs what clients are shown; `nil` from an older Sluice.
    package var authority: AuthorityInUse?
    /// What requests through the proxy have in `Proxy-Authorization`; `nil` where none is needed.
    package var proxyAuthorization: String?
    /// What answers that it made itself have in `X-Sluice-Mark`; `nil` from an older Sluice.
    package var mark: String?
    package var session: String?
    /// Why the recording stopped; `nil` while it goes on.
    package var recordingProblem: String?
    /// What is recorded; `nil` from an older Sluice.
    package var recording: RecordingState?
    /// Grows whenever exchanges are deleted, brought back, commented or coloured; `nil` from an older Sluice.
    package var edits: Int?
    /// The profile's files, included ones too.
    package var profiles: [String] = []
    package var tools: [ToolState] = []
    package var holds = 0
    /// The name of the rules' texts that are in force, another one after each change; `nil` from an older Sluice.
    package var rules: String?
}

extension ControlStatus {
    /// Where it is a forward proxy; `nil` where it is none.
    package var forwardAddress: String? {
        guard let listeners else { return address }
        return listeners.first { $0.mode == ListenerState.forward }?.address
    }
}

/// A listener of a running proxy.
package struct ListenerState: Codable, Sendable, Hashable {
    static let forward = "regular"

    /// How it takes traffic, as `--mode` writes it.
    package var mode: String
    /// Where it listens, as `host:port`.
    package var address: String

    package init(mode: String, address: String) {
        self.mode = mode
        self.address = address
    }

    /// Whether clients are to be set up for a proxy of HTTP.
    package var isForward: Bool { mode == ListenerState.forward }
}

/// Whether exchanges are recorded.
package struct RecordingState: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case isOn = "on"
        case passed, leftOut
    }

    package var isOn: Bool
    /// Exchanges that have begun while it was off.
    package var passed: Int
    /// Exchanges that the profile's `record` has kept out.
    package var leftOut: Int

    package init(isOn: Bool, passed: Int = 0, leftOut: Int = 0) {
        (self.isOn, self.passed, self.leftOut) = (isOn, passed, leftOut)
    }
}

package struct AuthorityInUse: Codable, Sendable, Hashable {
    /// The file that clients can trust.
    package var path: String
    /// The certificate, DER.
    package var certificate: Data
    /// The SHA-256 of the key that all certificates for hosts have (SubjectPublicKeyInfo), Base64; `nil` from an older
    /// Sluice.
    package var leafKeyHash: String?
}

/// A tool, as it is at the moment.
package struct ToolState: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case name
        case isOn = "on"
        case rules, enabled
    }

    /// Its name, as profiles have it.
    package var name: String
    package var isOn: Bool
    /// How many rules the profile has for it.
    package var rules: Int
    /// How many of them are enabled.
    package var enabled: Int
}

enum ControlLine {
    /// Writes a value, line feed included; what a terminal would obey or hide is escaped.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Data(VisibleText.json(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8) + [0x0A]
    }

    /// Reads a value; throws what is wrong with the line.
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
    /// Throws ``ControlError`` where an object has a member that is none of the keys.
    func refuseUnknownMembers<Key: CodingKey & CaseIterable>(of: Key.Type) throws {
        let known = Key.allCases.map(\.stringValue)
        for key in try container(keyedBy: AnyMember.self).allKeys where !known.contains(key.stringValue) {
            throw ControlError(
                "There is no member '\(key.stringValue.prefix(40))'.",
                hint: "There are: \(known.joined(separator: ", "))."
            )
        }
    }
}

private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}
