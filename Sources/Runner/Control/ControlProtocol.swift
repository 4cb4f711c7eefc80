package import Foundation
package import HTTPModel

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

/// What a client asks.
package struct ControlRequest: Codable, Sendable, Hashable {
    /// What there is to ask.
    package enum Command: String, Codable, Sendable, Hashable, CaseIterable {
        /// What is running.
        case status
        case toolList = "tool.list"
        /// Switch tools on or off.
        case toolSet = "tool.set"
        /// The messages that wait.
        case holdList = "hold.list"
        /// One of them, whole.
        case holdShow = "hold.show"
        /// Go on with an edited message.
        case holdEdit = "hold.edit"
        /// Go on with messages as they are.
        case holdExecute = "hold.execute"
        /// Go on with messages as though they had not been held.
        case holdCancel = "hold.cancel"
        /// Cut their clients off.
        case holdAbort = "hold.abort"
        /// Decrypt a host again whose certificate of ours a client refused.
        case decrypt
        /// Read the profile again.
        case profileReload = "profile.reload"
        /// The texts that are in force.
        case profileShow = "profile.show"
        /// Put texts in force without writing them.
        case profileApply = "profile.apply"
        /// Write texts that are in force to their files.
        case profileSave = "profile.save"
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case command, tool, tools
        case isOn = "on"
        case id, ids, edit, host, profiles, files, rules
        case isForced = "force"
    }

    /// What is asked.
    package var command: Command
    /// With `tool.set`: the tool.
    package var tool: String?
    /// With `tool.set`: several tools.
    package var tools: [String]?
    /// With `tool.set`: on or off.
    package var isOn: Bool?
    /// With `hold.…`: which message: `12.1`, `12` for the one of exchange 12, or `all`.
    package var id: String?
    /// With `hold.execute`, `hold.cancel` and `hold.abort`: several of them.
    package var ids: [String]?
    package var edit: HoldEdit?
    /// With `decrypt`: the host, or host and port.
    package var host: String?
    /// With `profile.apply`: the texts and their files.
    package var profiles: [ProfileSource]?
    /// With `profile.save`: the files; all that are not saved where it is left out.
    package var files: [String]?
    /// With `profile.apply`: the `rules` of the reply or the status that the texts were made from; where others are in
    /// force they are refused.
    package var rules: String?
    /// With `profile.save` and `profile.reload`: whether to do it though something is lost.
    ///
    /// That is what others have written to the file meanwhile, or edits that are not saved.
    package var isForced: Bool?

    package init(
        _ command: Command,
        tools: [String]? = nil,
        isOn: Bool? = nil,
        id: String? = nil,
        ids: [String]? = nil,
        edit: HoldEdit? = nil,
        host: String? = nil,
        profiles: [ProfileSource]? = nil,
        files: [String]? = nil,
        rules: String? = nil,
        isForced: Bool? = nil
    ) {
        self.command = command
        self.tools = tools
        self.isOn = isOn
        self.id = id
        self.ids = ids
        self.edit = edit
        self.host = host
        self.profiles = profiles
        self.files = files
        self.rules = rules
        self.isForced = isForced
    }

    /// Reads a request; unknown members are errors, since a misspelt one must not be taken for none.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownMembers(of: CodingKeys.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let word = try members.decode(String.self, forKey: .command)
        guard let command = Command(rawValue: word) else {
            let words = Command.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlFailure("There is no command '\(word.prefix(40))'.", hint: "There are: \(words).")
        }
        self.command = command
        tool = try members.decodeIfPresent(String.self, forKey: .tool)
        tools = try members.decodeIfPresent([String].self, forKey: .tools)
        isOn = try members.decodeIfPresent(Bool.self, forKey: .isOn)
        id = try members.decodeIfPresent(String.self, forKey: .id)
        ids = try members.decodeIfPresent([String].self, forKey: .ids)
        edit = try members.decodeIfPresent(HoldEdit.self, forKey: .edit)
        host = try members.decodeIfPresent(String.self, forKey: .host)
        if members.contains(.profiles), try !members.decodeNil(forKey: .profiles) {
            var list = try members.nestedUnkeyedContainer(forKey: .profiles)
            while !list.isAtEnd {
                try list.superDecoder().refuseUnknownMembers(of: ProfileSource.CodingKeys.self)
            }
        }
        profiles = try members.decodeIfPresent([ProfileSource].self, forKey: .profiles)
        files = try members.decodeIfPresent([String].self, forKey: .files)
        rules = try members.decodeIfPresent(String.self, forKey: .rules)
        isForced = try members.decodeIfPresent(Bool.self, forKey: .isForced)
    }
}

/// What a running Sluice answers.
package struct ControlReply: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case isOK = "ok"
        case error, hint, conflict, status, tools, holds, hold, decided, gone, profiles, rules, saved, message
    }

    /// Whether it was done.
    package var isOK: Bool
    /// Why not.
    package var error: String?
    /// What to try.
    package var hint: String?
    /// What is in the way of saving, where that is why.
    package var conflict: SavingConflict?
    /// What is running.
    package var status: ControlStatus?
    /// The tools, as they are now.
    package var tools: [ToolState]?
    /// The messages that wait.
    package var holds: [HoldSummary]?
    /// The message that was asked for.
    package var hold: HoldDetails?
    /// The messages that were decided about.
    package var decided: [String]?
    /// The messages that no longer waited.
    package var gone: [String]?
    /// The profile's files with the texts that are in force.
    package var profiles: [ProfileSource]?
    /// The name of those texts, another one after each change.
    package var rules: String?
    /// The files that were written.
    package var saved: [String]?
    /// What was done, in words.
    package var message: String?

    package init(isOK: Bool = true) {
        self.isOK = isOK
    }

    /// Says why something was not done.
    package init(_ failure: ControlFailure) {
        isOK = false
        error = failure.message
        hint = failure.hint.isEmpty ? nil : failure.hint
        conflict = failure.conflict
    }
}

/// What is running.
package struct ControlStatus: Codable, Sendable, Hashable {
    /// The version of what goes over the socket.
    package var `protocol` = ControlProtocol.version
    /// The version of Sluice.
    package var version: String
    /// The proxy's address, as `host:port`.
    package var address: String
    /// The process.
    package var pid: Int32
    /// The authority that signs what clients are shown; `nil` from an older Sluice.
    package var authority: AuthorityInUse?
    /// The session that is recorded to.
    package var session: String?
    /// Why the recording stopped, in words; `nil` while it goes on.
    package var recordingProblem: String?
    /// The profile's files, included ones too.
    package var profiles: [String]
    package var tools: [ToolState]
    /// How many messages wait for a decision.
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

/// The authority of a proxy that runs.
package struct AuthorityInUse: Codable, Sendable, Hashable {
    /// The file that clients can trust.
    package var path: String
    /// The certificate, DER.
    package var certificate: Data

    /// Names an authority.
    package init(path: String, certificate: Data) {
        self.path = path
        self.certificate = certificate
    }
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
    /// Whether it is switched on.
    package var isOn: Bool
    /// How many rules the profile has for it.
    package var rules: Int
    /// How many of them are enabled.
    package var enabled: Int

    /// Describes a tool.
    package init(name: String, isOn: Bool, rules: Int, enabled: Int) {
        self.name = name
        self.isOn = isOn
        self.rules = rules
        self.enabled = enabled
    }
}

/// One line of JSON.
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

/// A member of a JSON object, whatever its name.
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
