package import Foundation
package import HTTPModel
import Text

/// What goes over the control socket: one JSON object a line, a reply for each request, in order.
///
/// Scripts may speak it with any client of local sockets, for example `nc -N -U "$XDG_RUNTIME_DIR/sluice/PID.sock"`:
///
/// ```
/// {"command":"status"}
/// {"command":"tool.list"}
/// {"command":"tool.set","tool":"rewrite","on":false}             also "tools":[…], and "all"
/// {"command":"hold.list"}
/// {"command":"hold.show","id":"12.1"}
/// {"command":"hold.edit","id":"12.1","edit":{"status":404,"headers":[{"name":"X","value":"y"}]}}
/// {"command":"hold.execute","ids":["12.1","13.1"]}               likewise hold.cancel, hold.abort; "id":"all"
/// {"command":"decrypt","host":"api.example.com:443"}            without a port for all of them
/// {"command":"profile.reload"}                                   with "force":true edits that are not saved are lost
/// {"command":"profile.show"}
/// {"command":"profile.apply","profiles":[{"file":"p.yaml","text":"version: 1\n…"}]}
/// {"command":"profile.save","files":["p.yaml"]}                  without "files" all; "force":true overwrites
/// ```
///
/// A reply has `"ok":true` and what was asked for (`status`, `tools`, `holds`, `hold`, `decided` and `gone`,
/// `profiles`, `saved`, `message`), or `"ok":false`, an `error` and perhaps a `hint`. Members of a reply that a client does not know are to be
/// passed over; unknown members of a request are an error. ``HoldEdit`` says what an edit may have.
package enum ControlProtocol {
    /// The version that `status` tells; one more with every change that an older client would trip over.
    package static let version = 1
    /// The longest line either side takes, in bytes; a held body goes over it whole.
    package static let longestLine = 64 << 20
    /// How much of a held body `hold.show` gives, in bytes after decoding; escaped, it must still fit a line.
    package static let longestShownBody = 8 << 20
}

/// What a client asks: the calls of ``ControlTarget``, each a JSON object with a `command`.
package enum ControlRequest: Codable, Sendable, Hashable {
    case status
    case tools
    case setTools([String], isOn: Bool)
    case holds
    case hold(String)
    case editHold(String, HoldEdit)
    case decide([String], HoldDecision)
    case decrypt(String)
    case profile
    case applyProfile([ProfileSource], madeFrom: String?)
    case reloadProfile(discardsEdits: Bool)
    case saveProfile([String]?, isForced: Bool)

    private enum Command: String, CaseIterable {
        case status
        case toolList = "tool.list"
        case toolSet = "tool.set"
        case holdList = "hold.list"
        case holdShow = "hold.show"
        case holdEdit = "hold.edit"
        case holdExecute = "hold.execute"
        case holdCancel = "hold.cancel"
        case holdAbort = "hold.abort"
        case decrypt
        case profileReload = "profile.reload"
        case profileShow = "profile.show"
        case profileApply = "profile.apply"
        case profileSave = "profile.save"
    }

    private struct Members: Codable {
        var command: String
        var tool: String?
        var tools: [String]?
        var on: Bool?
        var id: String?
        var ids: [String]?
        var edit: HoldEdit?
        var host: String?
        var profiles: [ProfileSource]?
        var files: [String]?
        var rules: String?
        var force: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case command, tool, tools, on, id, ids, edit, host, profiles, files, rules, force
        }

        var names: [String] { (tools ?? []) + (tool.map { [$0] } ?? []) }
        var holds: [String] { (ids ?? []) + (id.map { [$0] } ?? []) }

        init(_ command: Command) {
            self.command = command.rawValue
        }

        /// A member that the command cannot do without.
        func needed<Value>(_ value: Value?, _ what: String) throws(ControlFailure) -> Value {
            guard let value else { throw ControlFailure("'\(command)' needs \(what).") }
            return value
        }

        func decision(_ decision: HoldDecision) throws(ControlFailure) -> ControlRequest {
            .decide(try needed(holds.isEmpty ? nil : holds, "the 'id' of a message, 'ids', or 'all'"), decision)
        }

        func hold() throws(ControlFailure) -> String {
            try needed(holds.count == 1 ? holds.first : nil, "the 'id' of one message")
        }
    }

    /// Reads a request; unknown members are errors, since a misspelt one must not be taken for none.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownMembers(of: Members.CodingKeys.self)
        let members = try Members(from: decoder)
        if members.profiles != nil {
            let object = try decoder.container(keyedBy: Members.CodingKeys.self)
            var list = try object.nestedUnkeyedContainer(forKey: .profiles)
            while !list.isAtEnd { try list.superDecoder().refuseUnknownMembers(of: ProfileSource.CodingKeys.self) }
        }
        guard let command = Command(rawValue: members.command) else {
            let words = Command.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlFailure("There is no command '\(members.command.prefix(40))'.", hint: "There are: \(words).")
        }
        let isForced = members.force ?? false
        switch command {
        case .status: self = .status
        case .toolList: self = .tools
        case .toolSet:
            let names = members.names
            let isOn = names.isEmpty ? nil : members.on
            self = .setTools(names, isOn: try members.needed(isOn, "a 'tool' and whether it is to be 'on'"))
        case .holdList: self = .holds
        case .holdShow: self = .hold(try members.hold())
        case .holdEdit: self = .editHold(try members.hold(), try members.needed(members.edit, "an 'edit'"))
        case .holdExecute: self = try members.decision(.execute)
        case .holdCancel: self = try members.decision(.cancel)
        case .holdAbort: self = try members.decision(.abort)
        case .decrypt: self = .decrypt(try members.needed(members.host, "a 'host'"))
        case .profileReload: self = .reloadProfile(discardsEdits: isForced)
        case .profileShow: self = .profile
        case .profileApply:
            let texts = try members.needed(members.profiles, "'profiles', each with its 'file' and 'text'")
            self = .applyProfile(texts, madeFrom: members.rules)
        case .profileSave: self = .saveProfile(members.files, isForced: isForced)
        }
    }

    private var members: Members {
        var members: Members
        switch self {
        case .status: members = Members(.status)
        case .tools: members = Members(.toolList)
        case .setTools(let names, let isOn):
            members = Members(.toolSet)
            (members.tools, members.on) = (names, isOn)
        case .holds: members = Members(.holdList)
        case .hold(let id):
            members = Members(.holdShow)
            members.id = id
        case .editHold(let id, let edit):
            members = Members(.holdEdit)
            (members.id, members.edit) = (id, edit)
        case .decide(let ids, let decision):
            switch decision {
            case .execute: members = Members(.holdExecute)
            case .cancel: members = Members(.holdCancel)
            case .abort: members = Members(.holdAbort)
            }
            members.ids = ids
        case .decrypt(let place):
            members = Members(.decrypt)
            members.host = place
        case .profile: members = Members(.profileShow)
        case .applyProfile(let texts, let revision):
            members = Members(.profileApply)
            (members.profiles, members.rules) = (texts, revision)
        case .reloadProfile(let discardsEdits):
            members = Members(.profileReload)
            members.force = discardsEdits
        case .saveProfile(let files, let isForced):
            members = Members(.profileSave)
            (members.files, members.force) = (files, isForced)
        }
        return members
    }

    package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

/// What a running Sluice answers: what the call of ``ControlTarget`` returned, in a JSON object with `ok`.
package enum ControlReply: Codable, Sendable, Hashable {
    case status(ControlStatus)
    case tools([ToolState])
    case holds([HoldSummary])
    case hold(HoldDetails)
    case edited(String)
    case decided(HoldsDecided)
    case done(String)
    case profile(ProfileInForce)
    case applied(String, ProfileInForce)
    case saved([String])
    case refused(ControlFailure)

    /// The members of the JSON object; those that are `nil` are left out.
    private struct Members: Codable {
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
        var rules: String?
        var saved: [String]?
        var message: String?
    }

    package init(from decoder: any Decoder) throws {
        let members = try Members(from: decoder)
        if !members.ok {
            let message = members.error ?? "The running Sluice refused."
            self = .refused(ControlFailure(message, hint: members.hint ?? "", conflict: members.conflict))
        } else if let status = members.status {
            self = .status(status)
        } else if let tools = members.tools {
            self = .tools(tools)
        } else if let holds = members.holds {
            self = .holds(holds)
        } else if let hold = members.hold {
            self = .hold(hold)
        } else if let decided = members.decided {
            self =
                members.gone.map { .decided(HoldsDecided(decided: decided, gone: $0)) } ?? .edited(decided.first ?? "")
        } else if let profiles = members.profiles {
            let profile = ProfileInForce(profiles: profiles, rules: members.rules ?? "")
            self = members.message.map { .applied($0, profile) } ?? .profile(profile)
        } else if let saved = members.saved {
            self = .saved(saved)
        } else {
            self = .done(members.message ?? "")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var members = Members()
        switch self {
        case .status(let status): members.status = status
        case .tools(let tools): members.tools = tools
        case .holds(let holds): members.holds = holds
        case .hold(let hold): members.hold = hold
        case .edited(let id): members.decided = [id]
        case .decided(let result): (members.decided, members.gone) = (result.decided, result.gone)
        case .done(let message): members.message = message
        case .profile(let profile): (members.profiles, members.rules) = (profile.profiles, profile.rules)
        case .applied(let message, let profile):
            (members.message, members.profiles, members.rules) = (message, profile.profiles, profile.rules)
        case .saved(let files): members.saved = files
        case .refused(let failure):
            (members.ok, members.error, members.conflict) = (false, failure.message, failure.conflict)
            members.hint = failure.hint.isEmpty ? nil : failure.hint
        }
        try members.encode(to: encoder)
    }
}

package struct ControlStatus: Codable, Sendable, Hashable {
    package var `protocol` = ControlProtocol.version
    package var version: String
    /// The proxy's address, as `host:port`.
    package var address: String
    package var pid: Int32
    /// The authority that signs what clients are shown; `nil` from an older Sluice.
    package var authority: AuthorityInUse?
    package var session: String?
    /// Why the recording stopped, in words; `nil` while it goes on.
    package var recordingProblem: String?
    /// The profile's files, included ones too.
    package var profiles: [String]
    package var tools: [ToolState]
    package var holds: Int
    /// The name of the rules' texts that are in force, another one after each change; `nil` from an older Sluice.
    package var rules: String?

    package init(
        version: String,
        address: String,
        pid: Int32,
        authority: AuthorityInUse? = nil,
        session: String? = nil,
        profiles: [String] = [],
        tools: [ToolState] = [],
        holds: Int = 0,
        rules: String? = nil
    ) {
        self.version = version
        self.address = address
        self.pid = pid
        self.authority = authority
        self.session = session
        self.profiles = profiles
        self.tools = tools
        self.holds = holds
        self.rules = rules
    }
}

package struct AuthorityInUse: Codable, Sendable, Hashable {
    /// The file that clients can trust.
    package var path: String
    /// The certificate, DER.
    package var certificate: Data
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

    package init(name: String, isOn: Bool, rules: Int, enabled: Int) {
        self.name = name
        self.isOn = isOn
        self.rules = rules
        self.enabled = enabled
    }
}

enum ControlLine {
    /// Writes a value, line feed included; what a terminal would obey or hide is escaped.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Data(VisibleText.json(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8) + [0x0A]
    }

    /// Reads a value; says in words what is wrong with it.
    static func decode<Value: Decodable>(_ type: Value.Type, _ line: Data) throws(ControlFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: line)
        } catch let failure as ControlFailure {
            throw failure
        } catch let error as DecodingError {
            throw ControlFailure("The line is not understood: \(words(error)).")
        } catch {
            throw ControlFailure("The line is not understood.")
        }
    }

    private static func words(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return path.isEmpty ? "it" : "'\(path.joined(separator: "."))'"
        }
        switch error {
        case .keyNotFound(let key, _): return "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context): return "\(place(context)) has another type"
        case .valueNotFound(_, let context): return "\(place(context)) is null"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "it is not JSON" : "\(place(context)) cannot be read"
        @unknown default: return "it is not JSON"
        }
    }
}

extension Decoder {
    /// Throws ``ControlFailure`` where an object has a member that is none of the keys.
    func refuseUnknownMembers<Key: CodingKey & CaseIterable>(of: Key.Type) throws {
        let known = Key.allCases.map(\.stringValue)
        for key in try container(keyedBy: AnyMember.self).allKeys where !known.contains(key.stringValue) {
            throw ControlFailure(
                "There is no member '\(key.stringValue.prefix(40))'.",
                hint: "There are: \(known.joined(separator: ", "))."
            )
        }
    }
}

private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}
