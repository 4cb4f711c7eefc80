import Content

/// A place in a JSON text, as RFC 6901 writes it: `/user/name`, `/items/0`, `/items/-` for one more element.
///
/// Setting a value leaves every other byte of the text as it is: spelling of numbers, order of members, white space.
struct JSONPointer {
    private let tokens: [String]
    private let text: String

    /// Reads a pointer; the empty one means the whole text.
    init(_ text: String) throws(ControlFailure) {
        guard text.isEmpty || text.hasPrefix("/") else {
            throw ControlFailure("A JSON path begins with '/', for example /user/name; '\(text)' does not.")
        }
        self.text = text
        tokens = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
            // In this order (RFC 6901 §4), so that ~01 reads as ~1.
            String(token).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }

    /// Puts a value at the place.
    ///
    /// - Parameters:
    ///   - value: the value as JSON; anything that is no JSON is taken for a text.
    ///   - body: the JSON text.
    /// - Returns: the text with the value.
    /// - Throws: ``ControlFailure`` where the body is no JSON, or the place is not in it.
    func set(_ value: String, in body: [UInt8]) throws(ControlFailure) -> [UInt8] {
        do {
            _ = try JSONText.pretty(body, outputLimit: .max)
        } catch {
            throw ControlFailure("The body is not JSON: \(error).")
        }
        let value = JSONPointer.literal(value)
        var scanner = JSONCursor(body)
        scanner.skipSpace()
        var walked = ""
        for (index, token) in tokens.enumerated() {
            let isLast = index == tokens.count - 1
            switch scanner.peek {
            case UInt8(ascii: "{"):
                if scanner.enterMember(token) { break }
                guard isLast else { throw missing("member", token, walked, scanner) }
                return scanner.inserting(JSONPointer.quoted(token) + [UInt8(ascii: ":")] + value)
            case UInt8(ascii: "["):
                let count = scanner.elementCount()
                let position = token == "-" ? count : Int(token) ?? -1
                if (0..<count).contains(position) {
                    scanner.enterElement(position)
                    break
                }
                guard isLast, position == count else { throw missing("element", token, walked, scanner) }
                return scanner.inserting(value)
            default:
                throw ControlFailure(
                    "There is no \(text) in the body: \(walked.isEmpty ? "it" : walked) is neither object nor array."
                )
            }
            walked += "/" + token
        }
        return scanner.replacing(with: value)
    }

    private func missing(_ kind: String, _ token: String, _ walked: String, _ scanner: JSONCursor) -> ControlFailure {
        let place = walked.isEmpty ? "the body" : walked
        let names = scanner.names().prefix(8).joined(separator: ", ")
        return ControlFailure(
            "There is no \(text) in the body: \(place) has no \(kind) '\(token)'.",
            hint: names.isEmpty ? "" : "It has: \(names)."
        )
    }

    private static func literal(_ text: String) -> [UInt8] {
        (try? JSONText.pretty(Array(text.utf8))) == nil ? quoted(text) : Array(text.utf8)
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): quoted += Array("\\n".utf8)
            case UInt8(ascii: "\t"): quoted += Array("\\t".utf8)
            case 0..<0x20: quoted += Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: quoted.append(byte)
            }
        }
        return quoted + [UInt8(ascii: "\"")]
    }
}

/// Walks over a JSON text that was found to be valid.
private struct JSONCursor {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    /// Goes to the last member of that name, which is the one that counts for most readers; `false` where there is
    /// none.
    mutating func enterMember(_ name: String) -> Bool {
        var found: Int?
        forEachPart { scanner, member in
            if member == name { found = scanner.position }
        }
        if let found { position = found }
        return found != nil
    }

    func elementCount() -> Int {
        var count = 0
        forEachPart { _, _ in count += 1 }
        return count
    }

    mutating func enterElement(_ wanted: Int) {
        var index = 0
        var found = position
        forEachPart { scanner, _ in
            if index == wanted { found = scanner.position }
            index += 1
        }
        position = found
    }

    /// The names of the object's members.
    func names() -> [String] {
        var names: [String] = []
        forEachPart { _, name in
            if let name { names.append(name) }
        }
        return names
    }

    /// The text with another value in place of the one at hand.
    func replacing(with value: [UInt8]) -> [UInt8] {
        var end = self
        end.skipValue()
        return bytes[..<position] + value + bytes[end.position...]
    }

    /// The text with one more member or element at the end of the object or array at hand.
    func inserting(_ part: [UInt8]) -> [UInt8] {
        var last = position + 1
        var isEmpty = true
        forEachPart { scanner, _ in
            var scanner = scanner
            scanner.skipValue()
            last = scanner.position
            isEmpty = false
        }
        return bytes[..<last] + (isEmpty ? [] : [UInt8(ascii: ",")]) + part + bytes[last...]
    }

    /// Calls `body` at each value of the object or array at hand, with the member's name.
    private func forEachPart(_ body: (JSONCursor, String?) -> Void) {
        var scanner = self
        let isObject = peek == UInt8(ascii: "{")
        scanner.position += 1
        scanner.skipSpace()
        while let byte = scanner.peek, byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") {
            var name: String?
            if isObject {
                let start = scanner.position
                scanner.skipString()
                name = JSONCursor.unquoted(bytes[start..<scanner.position])
                scanner.skipSpace()
                scanner.position += 1
                scanner.skipSpace()
            }
            body(scanner, name)
            scanner.skipValue()
            scanner.skipSpace()
            if scanner.peek == UInt8(ascii: ",") { scanner.position += 1 }
            scanner.skipSpace()
        }
    }

    private mutating func skipString() {
        position += 1
        while let byte = peek, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        position = min(position + 1, bytes.count)
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch peek {
            case nil: return
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D: position += 1
            default:
                while let byte = peek, byte > 0x20, !",]}".utf8.contains(byte) { position += 1 }
            }
        } while depth > 0
    }

    /// A string's value; only names are compared, so an escape that is no character stays as it is.
    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> String {
        let inner = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
        guard inner.contains("\\") else { return inner }
        var units: [UInt16] = []
        var rest = Array(inner.utf16)[...]
        while let unit = rest.popFirst() {
            guard unit == 0x5C, let escape = rest.popFirst() else {
                units.append(unit)
                continue
            }
            switch escape {
            case 0x62: units.append(8)
            case 0x66: units.append(12)
            case 0x6E: units.append(10)
            case 0x72: units.append(13)
            case 0x74: units.append(9)
            case 0x75:
                let digits = String(decoding: rest.prefix(4), as: UTF16.self)
                rest = rest.dropFirst(4)
                units.append(UInt16(digits, radix: 16) ?? 0xFFFD)
            default: units.append(escape)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
