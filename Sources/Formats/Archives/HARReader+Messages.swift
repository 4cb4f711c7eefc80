import Content
import Description
import HTTPModel
import NIOCore

extension HARReader {
    /// Members of Sluice's own HARs for facts that HAR has no member for.
    struct OwnMembers {
        var scheme = ""
        var url = ""
        var kind: ExchangeRecord.Kind?
    }

    /// An object of HAR 1.2 with a name and a value: a header field, a parameter or a cookie.
    struct Pair {
        var name = ""
        /// `nil` if it is missing, for example for an uploaded file.
        var value: String?
        /// The other members, such as `fileName` or `httpOnly`.
        var others: [String: String] = [:]
    }

    /// Parts of a message that an archive has outside of headers, URL and text.
    struct Outside {
        var cookies: [Pair] = []
        var query: [Pair] = []
        var params: [Pair] = []
        var file = ""
    }

    private static let mostPairs = 10_000

    mutating func ownMembers(_ entry: inout ArchiveEntry) throws -> OwnMembers {
        var ours = OwnMembers()
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("colour", .string): entry.colour = reader.json.string(first)
            case ("scheme", .string): ours.scheme = reader.json.string(first)
            case ("url", .string): ours.url = reader.json.string(first)
            case ("masked", .arrayBegin):
                entry.masked = try reader.strings().filter { $0.utf8.count <= 64 }.prefix(16).map(\.self)
            case ("kind", .string):
                let text = reader.json.string(first)
                ours.kind = ExchangeRecord.Kind.allCases.first { $0.exportName == text }
            case ("requestTrailers", .arrayBegin): entry.request.trailers = try reader.fields()
            case ("responseTrailers", .arrayBegin): entry.response.trailers = try reader.fields()
            case ("state", .string): entry.setState(reader.json.string(first))
            case ("flags", .arrayBegin):
                let flags = try reader.strings()
                if flags.contains("request-body-incomplete") { entry.request.isCut = true }
                if flags.contains("response-body-incomplete") { entry.response.isCut = true }
            case ("sizes", .objectBegin):
                try reader.members { reader, name, first in
                    switch (name, first.kind) {
                    case ("requestBody", .number): entry.request.lostSize = reader.size(name, first)
                    case ("responseBody", .number): entry.response.lostSize = reader.size(name, first)
                    default: try reader.json.skip(first)
                    }
                }
            default: try reader.json.skip(first)
            }
        }
        if !entry.request.isCut { entry.request.lostSize = nil }
        if !entry.response.isCut { entry.response.lostSize = nil }
        return ours
    }

    mutating func request(_ entry: inout ArchiveEntry) throws {
        var (size, outside): (Int64?, Outside) = (nil, Outside())
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("method", .string): entry.method = reader.json.string(first)
            case ("url", .string): entry.url = reader.json.string(first)
            case ("httpVersion", .string): entry.request.version = reader.json.string(first)
            case ("headers", .arrayBegin): entry.request.fields = try reader.fields()
            case ("postData", .objectBegin): try reader.content(&entry.request, &outside, encoding: "_encoding")
            case ("bodySize", .number), ("bodySize", .string): size = reader.size(name, first)
            // Cookies and query usually repeat the headers and the URL.
            case ("cookies", .arrayBegin) where entry.request.field("cookie") == nil:
                outside.cookies = try reader.pairs()
            case ("queryString", .arrayBegin) where !entry.url.utf8.contains(UInt8(ascii: "?")):
                outside.query = try reader.pairs()
            default: try reader.pass(name, first)
            }
        }
        entry.addQuery(outside.query, losses)
        entry.addCookies(outside.cookies, losses)
        entry.addForm(outside.params, losses)
        // Programs that record through the DevTools protocol do not get binary bodies.
        if let size, size > 0, entry.request.isEmpty, !entry.request.isCut { losses.add(.missingBody) }
        if entry.request.isEmpty { entry.request.lostSize = entry.request.lostSize ?? size }
    }

    mutating func response(_ entry: inout ArchiveEntry) throws {
        var (size, outside): (Int64?, Outside) = (nil, Outside())
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("status", .number), ("status", .string): entry.status = reader.status(name, first)
            case ("statusText", .string): entry.reason = reader.json.string(first)
            case ("httpVersion", .string): entry.response.version = reader.json.string(first)
            case ("headers", .arrayBegin): entry.response.fields = try reader.fields()
            case ("content", .objectBegin): try reader.content(&entry.response, &outside, encoding: "encoding")
            case ("_transferSize", .number), ("_transferSize", .string):
                entry.response.wireSize = reader.size(name, first)
            case ("bodySize", .number): size = reader.size(name, first)
            // Not counted, because the content has its own size.
            case ("bodySize", _): try reader.json.skip(first)
            case ("cookies", .arrayBegin) where entry.response.field("set-cookie") == nil:
                outside.cookies = try reader.pairs()
            // Chrome and Sluice write the first, Playwright the second.
            case ("_error", .string), ("_failureText", .string): entry.error = reader.json.string(first)
            default: try reader.pass(name, first)
            }
        }
        entry.addSetCookies(outside.cookies, losses)
        // The content's size is larger, because it is without content coding.
        if entry.response.isCut, let size, size > 0 { entry.response.lostSize = size }
    }

    private mutating func content(
        _ message: inout ArchiveEntry.Message,
        _ outside: inout Outside,
        encoding: String
    ) throws {
        var (size, coding): (Int64, String) = (0, "")
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("mimeType", .string): message.mediaType = reader.json.string(first)
            case ("text", .string):
                message.text = reader.json.string(first)
                if first.range.count >= reader.textLimit {
                    reader.losses.add(.cutBody)
                    message.isCut = true
                }
            case ("comment", .string):
                let comment = reader.json.string(first)
                message.charset = HARReader.charset(comment)
                message.isAsReceived = comment.hasPrefix(JSONBody.notDecoded)
            case ("size", .number), ("size", .string): size = reader.size(name, first) ?? 0
            case (encoding, .string), ("encoding", .string): coding = reader.json.string(first)
            case ("params", .arrayBegin): outside.params = try reader.pairs()
            case ("_file", .string): outside.file = reader.json.string(first)
            default: try reader.pass(name, first)
            }
        }
        if !outside.file.isEmpty, message.text.isEmpty {
            message.bytes = try attachments(outside.file).map { ByteBuffer(bytes: $0) }
            if message.bytes == nil {
                losses.add(.attachment)
                (message.isCut, message.lostSize) = (true, size)
            }
        } else if size > 0, message.text.isEmpty {
            // Browsers discard bodies that a page no longer needs.
            losses.add(.missingBody)
            (message.isCut, message.lostSize) = (true, size)
        }
        decode(&message, from: coding)
    }

    private func size(_ name: String, _ token: JSONToken) -> Int64? {
        number(name, token, HARReader.amounts).map { Int64($0) }
    }

    private mutating func fields() throws -> [(name: String, value: String)] {
        var message = ArchiveEntry.Message()
        try elements { reader in
            var name = ""
            var values: [String] = [""]
            try reader.members { reader, member, first in
                switch (member, first.kind) {
                case ("name", .string): name = reader.json.string(first)
                case ("value", .string): values = [reader.json.string(first)]
                // Polly writes lists of values.
                case ("value", .arrayBegin): values = try reader.strings()
                default: try reader.pass(member, first)
                }
            }
            for value in values { message.addField(name, value, reader.losses) }
        }
        return message.fields
    }

    private mutating func strings() throws -> [String] {
        var strings: [String] = []
        while let token = try json.next(), token.kind != .arrayEnd {
            if token.kind == .string, strings.count < HARReader.mostPairs {
                strings.append(json.string(token))
            } else {
                try json.skip(token)
            }
        }
        return strings
    }

    private mutating func pairs() throws -> [Pair] {
        var pairs: [Pair] = []
        try elements { reader in
            var pair = Pair()
            try reader.members { reader, member, first in
                switch (member, first.kind) {
                case ("name", .string): pair.name = reader.json.string(first)
                case ("value", .string): pair.value = reader.json.string(first)
                case (_, .string) where pair.others.count < 20: pair.others[member] = reader.json.string(first)
                case (_, .literal) where pair.others.count < 20: pair.others[member] = reader.json.text(first)
                default: try reader.pass(member, first)
                }
            }
            if pairs.count < HARReader.mostPairs, !pair.name.isEmpty { pairs.append(pair) }
        }
        return pairs
    }
}
