import HTTPModel
import NIOCore

/// JSON as the session's text columns have it; written by hand, because Foundation's encoder is slow.
struct JSONText {
    private(set) var bytes: ByteBuffer

    /// The trace as an array of objects with the keys `stage`, `rule`, `outcome`, `text`; `nil` for an empty one.
    static func trace(_ entries: [TraceEntry]) -> ByteBuffer? {
        guard !entries.isEmpty else { return nil }
        var json = JSONText(capacity: 128 * entries.count)
        json.list(entries) { entry, json in
            json.raw("{\"stage\":")
            json.string(entry.stage)
            if let rule = entry.rule {
                json.raw(",\"rule\":")
                json.string(rule)
            }
            json.raw(",\"outcome\":")
            json.string(entry.outcome.rawValue)
            json.raw(",\"text\":")
            json.string(entry.text)
            json.raw("}")
        }
        return json.bytes
    }

    /// Certificates as an array of objects with the keys of ``CertificateSummary``; `nil` for none.
    static func certificates(_ certificates: [CertificateSummary]) -> ByteBuffer? {
        guard !certificates.isEmpty else { return nil }
        var json = JSONText(capacity: 512 * certificates.count)
        json.list(certificates) { certificate, json in
            json.raw("{\"subject\":")
            json.string(certificate.subject)
            json.raw(",\"issuer\":")
            json.string(certificate.issuer)
            json.raw(",\"alternativeNames\":")
            json.list(certificate.alternativeNames) { $1.string($0) }
            json.raw(",\"notBefore\":\(certificate.notBefore),\"notAfter\":\(certificate.notAfter),\"fingerprint\":")
            json.string(certificate.fingerprint)
            json.raw("}")
        }
        return json.bytes
    }

    /// A profile's files as an array of objects with the keys `file`, `text`.
    static func sources(_ sources: [StoredRules.Source]) -> ByteBuffer {
        var json = JSONText(capacity: sources.reduce(64) { $0 + $1.file.utf8.count + $1.text.utf8.count * 9 / 8 })
        json.list(sources) { source, json in
            json.raw("{\"file\":")
            json.string(source.file)
            json.raw(",\"text\":")
            json.string(source.text)
            json.raw("}")
        }
        return json.bytes
    }

    /// Names as an array of strings.
    static func names(_ names: [String]) -> ByteBuffer {
        var json = JSONText(capacity: 64)
        json.list(names) { $1.string($0) }
        return json.bytes
    }

    private init(capacity: Int) {
        bytes = ByteBufferAllocator().buffer(capacity: capacity)
    }

    private mutating func list<Element>(_ elements: [Element], _ write: (Element, inout JSONText) -> Void) {
        raw("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            write(element, &self)
        }
        raw("]")
    }

    private mutating func raw(_ text: String) {
        bytes.writeString(text)
    }

    /// Writes a string with the escapes that RFC 8259 §7 requires.
    private mutating func string(_ text: String) {
        raw("\"")
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
            raw(text)
        } else {
            for byte in text.utf8 { escaped(byte) }
        }
        raw("\"")
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case 0x22: raw("\\\"")
        case 0x5C: raw("\\\\")
        case 0x0A: raw("\\n")
        case 0x0D: raw("\\r")
        case 0x09: raw("\\t")
        case 0..<0x20: raw("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
        default: bytes.writeInteger(byte)
        }
    }
}
