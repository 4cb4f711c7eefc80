import Content

/// The format of a file with exchanges, or of a file mistaken for one, by its first bytes; the file's name is ignored.
package enum ArchiveFormat: Sendable, Hashable {
    case har, charlesJSON, charlesXML, mitmproxy, curl
    /// A bundle of Sluice, or a zip whose entries show one of the formats below.
    case zip
    /// A zip with a session of Charles, and one with a session of Fiddler.
    case charlesZip, fiddlerZip
    case gzip
    /// Settings of Charles: rules, no exchanges.
    case charlesSettings
    case unread(Unread)
    case otherXML(String)

    package struct Unread: Sendable, Hashable {
        /// The format's name, with an article.
        package let title: String
        package let hint: String
    }

    /// How many of the first bytes are read.
    package static let tellingBytes = 64 << 10

    private enum Beginning {
        case bytes([UInt8])
        /// Text in UTF-8; blanks are ignored.
        case text(String)
        case element(String)
    }

    /// The first match decides. `mark` must also be in the first bytes; it may be empty.
    private static let signatures: [(format: ArchiveFormat, beginning: Beginning, mark: String)] = [
        (.zip, .bytes([0x50, 0x4B, 0x03, 0x04]), ""),
        // A zip without entries.
        (.zip, .bytes([0x50, 0x4B, 0x05, 0x06]), ""),
        (.gzip, .bytes([0x1F, 0x8B]), ""),
        (.unread(.javaObjects), .bytes([0xAC, 0xED, 0x00, 0x05]), ""),
        // pcap, in both byte orders, with times in microseconds or nanoseconds.
        (.unread(.packets), .bytes([0xD4, 0xC3, 0xB2, 0xA1]), ""),
        (.unread(.packets), .bytes([0xA1, 0xB2, 0xC3, 0xD4]), ""),
        (.unread(.packets), .bytes([0x4D, 0x3C, 0xB2, 0xA1]), ""),
        (.unread(.packets), .bytes([0xA1, 0xB2, 0x3C, 0x4D]), ""),
        // pcapng.
        (.unread(.packets), .bytes([0x0A, 0x0D, 0x0D, 0x0A]), ""),
        (.unread(.netLog), .text(#"{"constants":"#), ""),
        (.unread(.whistle), .text("[{"), #""dnsTime":"#),
        (.har, .text("{"), ""),
        (.charlesJSON, .text("["), ""),
        (.charlesXML, .element("charles-session"), ""),
        (.charlesSettings, .element("charles-export"), ""),
        (.charlesSettings, .element("configuration"), ""),
        (.charlesSettings, .element("charles-tool"), ""),
        (.unread(.burp), .element("items"), "burpVersion"),
    ]

    /// Finds the format by a file's first bytes; `nil` for a session of Sluice, and for unknown formats.
    package init?(beginning: [UInt8]) {
        let text = UTF8Pieces.utf8(beginning: beginning).drop {
            [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0)
        }
        let plain = Array(text.prefix(200).filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) })
        let element = text.first == UInt8(ascii: "<") ? ArchiveFormat.root(of: text) : nil
        let found = ArchiveFormat.signatures.first { signature in
            let begins =
                switch signature.beginning {
                case .bytes(let bytes): beginning.starts(with: bytes)
                case .text(let start): plain.starts(with: start.utf8)
                case .element(let name): element == name
                }
            return begins && (signature.mark.isEmpty || text.firstRange(of: Array(signature.mark.utf8)) != nil)
        }
        if let found {
            self = found.format
        } else if let element {
            self = .otherXML(element)
        } else if ArchiveFormat.isFlow(beginning) {
            self = .mitmproxy
        } else if ArchiveFormat.hasCommand(beginning) {
            self = .curl
        } else {
            return nil
        }
    }

    /// Names code that a browser copied in a form other than a cURL command; `nil` for other texts.
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

    package var title: String {
        switch self {
        case .har: "HAR"
        case .charlesJSON: "Charles session in JSON"
        case .charlesXML: "Charles session in XML"
        case .mitmproxy: "mitmproxy flow file"
        case .curl: "file of cURL commands"
        case .zip: "zip"
        case .charlesZip: "Charles session in a zip"
        case .fiddlerZip: "Fiddler session"
        case .gzip: "gzip file"
        case .charlesSettings: "file of Charles settings"
        case .unread(let format): format.title
        case .otherXML: "XML file"
        }
    }

    /// Whether a file begins with the lengths of a dictionary and of its first key.
    private static func isFlow(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        guard TypedNetstring.length(&rest) != nil, let count = TypedNetstring.length(&rest), count < 40,
            rest.count > count
        else { return false }
        return [UInt8(ascii: ";"), UInt8(ascii: ",")].contains(rest[rest.startIndex + count])
    }

    /// Whether a line begins like a cURL command.
    private static func hasCommand(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0) else { return false }
        return bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            var words = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 })
            if let first = words.first, first.elementsEqual("$".utf8) || first.elementsEqual(">".utf8) {
                words.removeFirst()
            }
            guard words.count > 1, let first = words.first else { return false }
            let name = String(decoding: first, as: UTF8.self).lowercased()
            // A `printf` before the command contains a body that no word can contain.
            let isPrinted = name == "printf" && words[1].first == UInt8(ascii: "'")
            return name == "curl" || name == "curl.exe" || isPrinted
        }
    }

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

extension ArchiveFormat.Unread {
    package static let javaObjects = Self(
        title: "a Charles session of Java objects, which only Charles reads",
        hint: "Open it in Charles and export as .chlsj: File > Export Session, JSON Session File."
    )
    package static let packets = Self(
        title: "a capture of packets (pcap), in which TLS is encrypted",
        hint: "Record the traffic with sluice, or export a HAR from the browser."
    )
    package static let netLog = Self(
        title: "a network log of Chrome (net-export), which has no bodies",
        hint: "Export a HAR from the Network panel of the developer tools."
    )
    package static let whistle = Self(
        title: "a session of whistle in its own format",
        hint: "Export it from whistle as .saz."
    )
    package static let burp = Self(
        title: "a file of Burp items",
        hint: "In Burp, copy the requests as curl commands (bash), and import a file with these."
    )
}
