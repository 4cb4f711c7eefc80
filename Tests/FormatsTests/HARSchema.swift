/// What the JSON schema of HAR 1.2 asks of an archive: members that must be there, and the type of each that is.
struct HARSchema {
    indirect enum Kind: Sendable {
        case string
        case number
        case integer
        case boolean
        case date
        case object([Member])
        case array([Member])
    }

    struct Member: Sendable {
        var name: String
        var isRequired: Bool
        var kind: Kind

        init(_ name: String, _ kind: Kind, optional: Bool = false) {
            self.name = name
            self.kind = kind
            isRequired = !optional
        }
    }

    private static let nameAndValue = [Member("name", .string), Member("value", .string)]

    private static let cookies =
        nameAndValue + [
            Member("path", .string, optional: true), Member("domain", .string, optional: true),
            Member("expires", .date, optional: true), Member("httpOnly", .boolean, optional: true),
            Member("secure", .boolean, optional: true),
        ]

    private static let postData = [
        Member("mimeType", .string), Member("text", .string, optional: true),
        Member(
            "params",
            .array([
                Member("name", .string), Member("value", .string, optional: true),
                Member("fileName", .string, optional: true), Member("contentType", .string, optional: true),
            ]),
            optional: true
        ),
    ]

    private static let request = [
        Member("method", .string), Member("url", .string), Member("httpVersion", .string),
        Member("cookies", .array(cookies)), Member("headers", .array(nameAndValue)),
        Member("queryString", .array(nameAndValue)), Member("postData", .object(postData), optional: true),
        Member("headersSize", .integer), Member("bodySize", .integer),
    ]

    private static let response = [
        Member("status", .integer), Member("statusText", .string), Member("httpVersion", .string),
        Member("cookies", .array(cookies)), Member("headers", .array(nameAndValue)),
        Member(
            "content",
            .object([
                Member("size", .integer), Member("compression", .integer, optional: true), Member("mimeType", .string),
                Member("text", .string, optional: true), Member("encoding", .string, optional: true),
            ])
        ),
        Member("redirectURL", .string), Member("headersSize", .integer), Member("bodySize", .integer),
    ]

    private static let timings =
        ["blocked", "dns", "connect", "ssl"].map { Member($0, .number, optional: true) }
        + ["send", "wait", "receive"].map { Member($0, .number) }

    static let archive = [
        Member(
            "log",
            .object([
                Member("version", .string),
                Member("creator", .object([Member("name", .string), Member("version", .string)])),
                Member("pages", .array([]), optional: true),
                Member(
                    "entries",
                    .array([
                        Member("startedDateTime", .date), Member("time", .number), Member("request", .object(request)),
                        Member("response", .object(response)), Member("cache", .object([])),
                        Member("timings", .object(timings)), Member("serverIPAddress", .string, optional: true),
                        Member("connection", .string, optional: true),
                    ])
                ),
            ])
        )
    ]

    /// What is wrong with a value that JSON was read into; empty where it conforms.
    static func violations(_ value: Any, _ members: [Member] = archive, at path: String = "") -> [String] {
        guard let object = value as? [String: Any] else { return ["\(path): not an object"] }
        return members.flatMap { member -> [String] in
            let here = "\(path).\(member.name)"
            guard let value = object[member.name] else { return member.isRequired ? ["\(here): missing"] : [] }
            switch member.kind {
            case .string: return value is String ? [] : ["\(here): no string"]
            case .boolean: return value is Bool ? [] : ["\(here): no boolean"]
            case .number: return (value as? Double).map { $0 >= -1 } == true ? [] : ["\(here): no number"]
            case .integer: return value is Int ? [] : ["\(here): no integer"]
            case .date:
                let pattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/
                return (value as? String)?.wholeMatch(of: pattern) != nil ? [] : ["\(here): no date"]
            case .object(let inner): return violations(value, inner, at: here)
            case .array(let inner):
                guard let array = value as? [Any] else { return ["\(here): no array"] }
                return array.enumerated().flatMap { violations($1, inner, at: "\(here)[\($0)]") }
            }
        }
    }
}
