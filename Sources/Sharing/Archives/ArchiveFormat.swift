import HTTPModel

/// What a file with exchanges is, or one that is taken for one, by its first bytes; its name says nothing.
package enum ArchiveFormat: Sendable, Hashable {
    case har, charlesJSON, charlesXML, mitmproxy, curl
    /// A bundle of Sluice, or a session of Charles.
    case zip
    /// A session of Charles before version 4, which is objects of Java.
    case javaObjects
    /// Settings of Charles: rules, no exchanges.
    case charlesSettings
    /// XML with another outermost element.
    case otherXML(String)

    /// How many bytes tell.
    package static let tellingBytes = 64 << 10

    /// Looks at the first bytes of a file; `nil` for a session of Sluice, and for what is none of these.
    package init?(beginning: [UInt8]) {
        if beginning.starts(with: [0x50, 0x4B, 0x03, 0x04]) || beginning.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
            self = .zip
            return
        }
        if beginning.starts(with: [0xAC, 0xED, 0x00, 0x05]) {
            self = .javaObjects
            return
        }
        let text = beginning.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        switch text.first {
        case UInt8(ascii: "{"): self = .har
        case UInt8(ascii: "["): self = .charlesJSON
        case UInt8(ascii: "<"):
            switch ArchiveFormat.root(of: text) {
            case "charles-session": self = .charlesXML
            case "charles-export", "configuration", "charles-tool": self = .charlesSettings
            case let name: self = .otherXML(name)
            }
        default:
            if ArchiveFormat.isFlow(beginning) {
                self = .mitmproxy
            } else if ArchiveFormat.hasCommand(beginning) {
                self = .curl
            } else {
                return nil
            }
        }
    }

    /// What a text is that a browser has copied as code other than a command of cURL; `nil` for another text.
    package static func copiedCode(_ beginning: [UInt8]) -> String? {
        guard !beginning.contains(0) else { return nil }
        let text = String(decoding: beginning.prefix(16 << 10), as: UTF8.self)
        let start = text.trimmingPrefix { $0.isWhitespace || $0 == "\u{FEFF}" }
        if start.hasPrefix("fetch(") || start.hasPrefix("await fetch(") { return "calls of fetch" }
        let isPowerShell = ["$session", "$body", "$headers", "Invoke-WebRequest", "Invoke-RestMethod"]
            .contains { start.hasPrefix($0) }
        let hasCall = text.contains("Invoke-WebRequest") || text.contains("Invoke-RestMethod")
        return isPowerShell && hasCall ? "commands of PowerShell" : nil
    }

    /// What messages call it.
    package var title: String {
        switch self {
        case .har: "HAR"
        case .charlesJSON: "Charles session in JSON"
        case .charlesXML: "Charles session in XML"
        case .mitmproxy: "mitmproxy flow file"
        case .curl: "file of cURL commands"
        case .zip: "zip"
        case .javaObjects: "Charles session of Java objects"
        case .charlesSettings: "file of Charles settings"
        case .otherXML: "XML file"
        }
    }

    /// Two lengths, of a dictionary and of its first key.
    private static func isFlow(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        guard TypedNetstring.length(&rest) != nil, let count = TypedNetstring.length(&rest), count < 40,
            rest.count > count
        else { return false }
        return [UInt8(ascii: ";"), UInt8(ascii: ",")].contains(rest[rest.startIndex + count])
    }

    /// Whether a line begins as a command does.
    private static func hasCommand(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0) else { return false }
        return bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            var words = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 })
            if let first = words.first, first.elementsEqual("$".utf8) || first.elementsEqual(">".utf8) {
                words.removeFirst()
            }
            guard words.count > 1, let first = words.first else { return false }
            let name = String(decoding: first, as: UTF8.self).lowercased()
            // A body that no word can carry is printed into a command.
            let isPrinted = name == "printf" && words[1].first == UInt8(ascii: "'")
            return name == "curl" || name == "curl.exe" || isPrinted
        }
    }

    /// The name of the outermost element.
    private static func root(of text: ArraySlice<UInt8>) -> String {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            let end = rest.starts(with: "!--".utf8) ? Array("-->".utf8) : [UInt8(ascii: ">")]
            guard rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") else {
                let name = rest.prefix(60).prefix {
                    $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
                }
                return String(decoding: name, as: UTF8.self)
            }
            while !rest.isEmpty, !rest.starts(with: end) { rest.removeFirst() }
        }
        return ""
    }
}
