import Content
import Description
import HTTPModel
import NIOCore
import ProxyServer
import Rules
import Text

/// A request as a replay compares it: places with their values, such as `query field 'page'` and `body $.items[0].id`.
/// Requests are the same if these lists are.
struct ComparedRequest: Sendable {
    /// In the order of reported differences.
    enum Part: UInt8, Sendable, CaseIterable {
        case method, scheme, host, port, path, query, header, body
    }

    struct Item: Sendable, Hashable {
        var part: Part
        /// As in a sentence.
        var place: String
        var value: String

        static func == (left: Item, right: Item) -> Bool {
            // Not by canonical equivalence: servers see bytes.
            left.part == right.part && left.place.utf8.elementsEqual(right.place.utf8)
                && left.value.utf8.elementsEqual(right.value.utf8)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(place) }
    }

    /// By part and place; items of one place in their order.
    let items: [Item]

    struct Matching: Sendable {
        let query: ComparisonRules
        let body: ComparisonRules
        let headers: [FieldName]
        let ignored: Set<ReplayRules.Part>

        init(_ rules: ReplayRules = ReplayRules()) {
            query = ComparisonRules(ignoring: rules.ignoredQuery, isExact: true)
            body = ComparisonRules(ignoring: rules.ignoredBody.map { $0.replacing(".[", with: "[") }, isExact: true)
            headers = rules.headers.map { FieldName($0.lowercased()) }
            ignored = rules.ignored
        }
    }

    /// `fields` are those of the head.
    init(method: String, url: RequestURL, fields: FieldSection, body: ComparedBody, rules: Matching) {
        var items = [Item(part: .method, place: "the method", value: method)]
        if !rules.ignored.contains(.scheme) {
            let scheme = ComparedRequest.normalized(scheme: url.scheme)
            items.append(Item(part: .scheme, place: "the scheme", value: scheme))
        }
        if !rules.ignored.contains(.host) { items.append(Item(part: .host, place: "the host", value: url.host)) }
        if !rules.ignored.contains(.port) {
            items.append(Item(part: .port, place: "the port", value: String(url.port)))
        }
        items.append(Item(part: .path, place: "the path", value: ComparedRequest.normalized(path: url.path)))
        var listed: [Item] = []
        if let query = url.query, !query.isEmpty {
            ComparedRequest.fields(Array(query.utf8), .query, "query field", rules.query, &listed)
        }
        for name in rules.headers where fields.contains(name) {
            let value = fields.values(of: name).joined(separator: ", ")
            listed.append(Item(part: .header, place: "header '\(name)'", value: value))
        }
        if body.size > 0 { BodyItems(fields: fields, rules: rules.body).add(body, to: &listed) }
        if listed.count > 1 {
            let ordered = listed.enumerated().sorted { left, right in
                (left.element.part.rawValue, left.element.place, left.offset)
                    < (right.element.part.rawValue, right.element.place, right.offset)
            }
            listed = ordered.map(\.element)
        }
        self.items = items + listed
    }

    /// Valid in this process.
    var fingerprint: Fingerprint {
        var digest = ByteDigest()
        for item in items {
            digest.add(item.place)
            digest.add(item.value)
        }
        return digest.fingerprint
    }

    /// The fingerprint of one part.
    func fingerprint(of part: Part) -> Fingerprint {
        var digest = ByteDigest()
        for item in items where item.part == part {
            digest.add(item.place)
            digest.add(item.value)
        }
        return digest.fingerprint
    }

    func value(of part: Part) -> String? { items.first { $0.part == part }?.value }

    // MARK: - Differences

    struct Difference: Sendable, Hashable {
        var place: String
        /// `nil` if the request does not have the place.
        var asked: String?
        var recorded: String?

        private static let longest = 80

        var shownPlace: String { place.shortened(to: Difference.longest) }

        /// For example `query field 'page' is "3", recorded "2"`.
        var description: String {
            // JSON has quotes, and a digest needs none.
            let isPlain = place.hasPrefix("body $") || place == "the body"
            func quoted(_ value: String) -> String {
                let short = value.shortened(to: Difference.longest)
                return isPlain ? short : JSONWriter.quoted(short)
            }
            let place = shownPlace
            return switch (asked, recorded) {
            case (let asked?, let recorded?): "\(place) is \(quoted(asked)), recorded \(quoted(recorded))"
            case (let asked?, nil): "\(place) is \(quoted(asked)), recorded without it"
            case (nil, let recorded?): "\(place) is missing, recorded \(quoted(recorded))"
            case (nil, nil): "\(place) differs"
            }
        }
    }

    /// In the order of the parts.
    func differences(from recorded: ComparedRequest) -> [Difference] {
        var waiting: [String: [Item]] = [:]
        for item in recorded.items.reversed() { waiting[item.place, default: []].append(item) }
        var found: [(Part, Difference)] = []
        for item in items {
            guard let other = waiting[item.place]?.popLast() else {
                found.append((item.part, Difference(place: item.place, asked: item.value, recorded: nil)))
                continue
            }
            guard item != other else { continue }
            found.append((item.part, Difference(place: item.place, asked: item.value, recorded: other.value)))
        }
        for item in recorded.items where waiting[item.place]?.last == item {
            waiting[item.place]?.removeLast()
            found.append((item.part, Difference(place: item.place, asked: nil, recorded: item.value)))
        }
        return found.enumerated().sorted { ($0.element.0.rawValue, $0.offset) < ($1.element.0.rawValue, $1.offset) }
            .map(\.element.1)
    }

    // MARK: - URLs

    /// A WebSocket begins as HTTP.
    static func normalized(scheme: String) -> String {
        switch scheme {
        case "ws": "http"
        case "wss": "https"
        default: scheme
        }
    }

    /// With normalised percent-encoding (RFC 3986 §6.2.2).
    static func normalized(path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return path }
        var result: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value = escaped(rest.prefix(2)) else {
                result.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            let isLetter = (value | 0x20) &- 0x61 < 26 || value &- 0x30 < 10
            if isLetter || "-._~".utf8.contains(value) {
                result.append(value)
            } else {
                result.append(UInt8(ascii: "%"))
                result += digits.map { $0 &- 0x61 < 6 ? $0 - 0x20 : $0 }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func escaped(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2, digits.allSatisfy({ $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// The decoded fields of a query or a form, without those that the rules ignore.
    static func fields(
        _ bytes: [UInt8],
        _ part: Part,
        _ noun: String,
        _ rules: ComparisonRules,
        _ items: inout [Item]
    ) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = decoded(pair[..<equals])
            guard !rules.ignores(parameter: name) else { continue }
            let value = equals < pair.endIndex ? decoded(pair[pair.index(after: equals)...]) : ""
            items.append(Item(part: part, place: "\(noun) '\(name)'", value: value))
        }
    }

    /// Unchanged if it is not UTF-8.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let needsDecoding = bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        guard needsDecoding else { return String(decoding: bytes, as: UTF8.self) }
        let decoded = FormFields.percentDecoded(bytes, plusIsSpace: true)
        return String(validating: decoded, as: UTF8.self) ?? String(decoding: bytes, as: UTF8.self)
    }
}
