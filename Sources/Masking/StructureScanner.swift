import Foundation
import HTTPModel

struct FoundSecret: Sendable {
    var range: Range<Int>
    var kind: SecretKind
    var name: String
    var secret: [UInt8]
    /// Whether it is masked elsewhere, too.
    var isSought = true
    /// Whether it stays a JSON number.
    var isNumber = false
}

enum ScanSyntax {
    /// JSON and text with JSON in it: events, lines, messages.
    case text
    case form
    case field
    case markup
    case multipart
}

/// Finds values under the names of secrets, one pass for each of JSON, parameters, tags and parts. The bytes may be cut
/// anywhere and malformed.
struct StructureScanner {
    let names: SecretNames
    let origin: OrdinaryValue.Origin
    let bytes: UnsafeRawBufferPointer
    /// The nesting of scans: parts of a body, values of a form, URLs in values.
    var depth = 0
    var found: [FoundSecret] = []

    private static let deepest = 3

    func secrets(_ syntax: ScanSyntax) -> [FoundSecret] {
        var scanner = self
        scanner.scan(syntax)
        return scanner.found
    }

    private mutating func scan(_ syntax: ScanSyntax) {
        switch syntax {
        case .form: return scanForm()
        case .multipart: return scanParts()
        case .markup: scanTags()
        case .text, .field: break
        }
        scanMembers()
        scanParameters()
        scanUserInformation()
    }

    mutating func scan(_ range: Range<Int>, _ syntax: ScanSyntax) {
        scan(bytes.part(range), syntax) { $0.moved(by: range.lowerBound) }
    }

    /// Scans bytes that were cut or decoded from these; `place` finds a range of theirs in these.
    private mutating func scan(
        _ part: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ place: (Range<Int>) -> Range<Int>
    ) {
        let scanner = StructureScanner(names: names, origin: origin, bytes: part, depth: depth + 1)
        for var secret in scanner.secrets(syntax) {
            secret.range = place(secret.range)
            found.append(secret)
        }
    }

    /// A percent-encoded value may be a URL or JSON.
    mutating func scanValue(_ range: Range<Int>) {
        guard depth < StructureScanner.deepest else { return }
        guard bytes[range].contains(where: { "%+".utf8.contains($0) }) else {
            if bytes[range].contains(where: { "=\"@".utf8.contains($0) }) { scan(range, .text) }
            return
        }
        // Where each decoded byte begins.
        var (plain, starts): ([UInt8], [Int]) = ([], [])
        let isJSON = ["%7B", "%7b", "%5B", "%5b", "{", "["].contains { bytes[range].starts(with: $0.utf8) }
        var place = range.lowerBound
        while place < range.upperBound {
            starts.append(place)
            if bytes[place] == UInt8(ascii: "%"), place + 2 < range.upperBound,
                let high = bytes[place + 1].hexadecimalValue, let low = bytes[place + 2].hexadecimalValue
            {
                plain.append(high << 4 | low)
                place += 3
            } else {
                plain.append(isJSON && bytes[place] == UInt8(ascii: "+") ? 0x20 : bytes[place])
                place += 1
            }
        }
        starts.append(range.upperBound)
        plain.withUnsafeBytes { scan($0, .text) { starts[$0.lowerBound]..<starts[$0.upperBound] } }
    }

    mutating func take(
        _ range: Range<Int>,
        _ kind: SecretKind,
        name: some Collection<UInt8>,
        isNumber: Bool = false,
        origin: OrdinaryValue.Origin? = nil,
        _ decode: (Slice<UnsafeRawBufferPointer>) -> [UInt8] = { Array($0) }
    ) {
        let start = kind == .named ? range.lowerBound : CredentialScheme.end(in: bytes, range, kind)
        let range = start..<range.upperBound
        let secret = decode(bytes[range])
        let isOrdinary = secret.withUnsafeBytes { OrdinaryValue.isOne($0, kind, name: name, origin ?? self.origin) }
        guard !isOrdinary else { return }
        let label = String(decoding: name.suffix(SecretNames.longest), as: UTF8.self)
        found.append(FoundSecret(range: range, kind: kind, name: label, secret: secret, isNumber: isNumber))
    }

    func find(_ byte: UInt8, from start: Int, to end: Int? = nil) -> Int? {
        let end = end ?? bytes.count
        guard start < end, let base = bytes.baseAddress, let found = memchr(base + start, CInt(byte), end - start)
        else { return nil }
        return base.distance(to: UnsafeRawPointer(found))
    }

    func find(_ text: StaticString, from start: Int) -> Int? {
        var place = start
        while let found = find(text.utf8Start[0], from: place) {
            if has(text, at: found) { return found }
            place = found + 1
        }
        return nil
    }

    func has(_ text: StaticString, at start: Int) -> Bool {
        (0...bytes.count).contains(start) && text.withUTF8Buffer { bytes[start...].starts(with: $0) }
    }

    func afterSpaces(_ start: Int) -> Int { bytes.runEnd(from: start) { $0.isSpace } }
}

enum CredentialScheme {
    private static let known: Set<String> = [
        "bearer", "basic", "token", "digest", "negotiate", "ntlm", "apikey", "hawk", "key", "mac", "dpop", "oauth",
        "sso-key", "splunk", "aws4-hmac-sha256", "sharedaccesssignature", "sharedkey", "bot",
    ]

    /// The credentials begin after a known scheme and spaces.
    static func end(in bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ kind: SecretKind) -> Int {
        guard let space = bytes[value].prefix(32).firstIndex(where: { " +%".utf8.contains($0) }),
            space > value.lowerBound
        else { return value.lowerBound }
        var place = space
        while place < value.upperBound {
            if bytes[place] == 0x20 || bytes[place] == UInt8(ascii: "+") && kind != .password {
                place += 1
            } else if bytes[place..<value.upperBound].starts(with: "%20".utf8) {
                place += 3
            } else {
                break
            }
        }
        guard place > space, place < value.upperBound else { return value.lowerBound }
        let scheme = String(decoding: bytes[value.lowerBound..<space], as: UTF8.self).lowercased()
        let isOther = kind == .credential && !bytes[place..<value.upperBound].contains(0x20)
        return isOther || known.contains(scheme) ? place : value.lowerBound
    }
}
