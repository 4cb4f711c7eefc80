/// A non-ASCII host name in two forms: Unicode and ASCII (`xn--`). Both are shown because letters of other scripts look
/// like Latin letters, so neither form alone shows which host it is.
package struct HostForms: Sendable, Hashable {
    /// The Unicode form.
    package let name: String
    /// The ASCII form, with `xn--` labels (RFC 5891).
    package let ascii: String

    /// Reads a host in either form; `nil` if both forms are the same, as for nearly all hosts.
    package init?(_ host: String) {
        guard HostForms.mayHaveTwo(host) else { return nil }
        let forms = HostForms.labels(of: host).map { HostForms.forms(of: $0) }
        name = forms.map(\.name).joined(separator: ".")
        ascii = forms.map(\.ascii).joined(separator: ".")
        if name == ascii { return nil }
    }

    package var text: String { "\(name) (\(ascii))" }

    /// A host for display: both forms if they differ, otherwise the host unchanged.
    package static func text(of host: String) -> String { HostForms(host)?.text ?? host }

    /// The labels of a host. It is split as bytes, because a dot and a combining mark after it are one `Character`.
    package static func labels(of host: String) -> [Substring] {
        host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Substring($0) }
    }

    private static func mayHaveTwo(_ host: String) -> Bool {
        var dashes = 0
        for byte in host.utf8 {
            if byte >= 0x80 { return true }
            dashes = byte == UInt8(ascii: "-") ? dashes + 1 : 0
            if dashes == 2 { return true }
        }
        return false
    }

    private static func forms(of label: Substring) -> (name: String, ascii: String) {
        let whole = String(label)
        guard label.utf8.allSatisfy({ $0 < 0x80 }) else {
            let lowered = whole.lowercased()
            // Lower case turns some non-ASCII letters into ASCII: U+212A (Kelvin sign) becomes k.
            guard lowered.utf8.contains(where: { $0 >= 0x80 }) else { return (whole, lowered) }
            return (whole, Punycode.encoded(lowered).map { "xn--" + $0 } ?? whole)
        }
        let encoded = label.dropFirst(4).lowercased()
        guard label.prefix(4).lowercased() == "xn--", let name = Punycode.decoded(encoded),
            // An encoded label counts only if its name is not ASCII and encodes to the same label again.
            name.utf8.contains(where: { $0 >= 0x80 }), Punycode.encoded(name.lowercased()) == encoded
        else { return (whole, whole) }
        return (name, whole)
    }

    /// Why the host may imitate another one, or `nil`: a label mixes scripts unusually (UTS 39 §5.2), or the last label
    /// is ASCII and another label has only Cyrillic or Greek letters that look like Latin letters.
    package var suspicion: String? {
        let labels = HostForms.labels(of: name).filter { !$0.isEmpty }
        for label in labels {
            let scripts = Script.all(in: label)
            if scripts.count > 1, !Script.usualMixtures.contains(where: scripts.isSubset) {
                let names = scripts.map(\.name).sorted()
                return "mixes \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "") letters in one label"
            }
        }
        guard labels.last?.utf8.allSatisfy({ $0 < 0x80 }) == true else { return nil }
        for label in labels {
            let letters = label.unicodeScalars.filter(\.properties.isAlphabetic)
            guard let script = Script.all(in: label).first, script == .cyrillic || script == .greek,
                letters.allSatisfy({ HostForms.latinLookalikes.contains($0) })
            else { continue }
            return "is written in \(script.name) letters that look like Latin ones"
        }
        return nil
    }

    private static let latinLookalikes = Set("асеорхуіјѕһԁԛԝӏӕьгпшωοαρνκιυτ".unicodeScalars)

    private enum Script: String {
        case latin, greek, cyrillic, armenian, hebrew, arabic, devanagari, thai, georgian, cherokee
        case hiragana, katakana, bopomofo, hangul, han

        var name: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

        static let usualMixtures: [Set<Script>] = [
            [.latin, .han, .hiragana, .katakana], [.latin, .han, .bopomofo], [.latin, .han, .hangul],
        ]

        private static let ranges: [(ClosedRange<UInt32>, Script)] = [
            (0x41...0x24F, .latin), (0x250...0x2AF, .latin), (0x370...0x3FF, .greek), (0x400...0x52F, .cyrillic),
            (0x531...0x58F, .armenian), (0x5D0...0x5F4, .hebrew), (0x620...0x6FF, .arabic), (0x750...0x77F, .arabic),
            (0x900...0x97F, .devanagari), (0xE00...0xE7F, .thai), (0x10A0...0x10FF, .georgian),
            (0x1100...0x11FF, .hangul), (0x13A0...0x13FF, .cherokee), (0x1C80...0x1C8F, .cyrillic),
            (0x1C90...0x1CBF, .georgian), (0x1D00...0x1DBF, .latin), (0x1E00...0x1EFF, .latin),
            (0x1F00...0x1FFF, .greek), (0x2C60...0x2C7F, .latin), (0x2DE0...0x2DFF, .cyrillic),
            (0x3005...0x3007, .han), (0x3041...0x309F, .hiragana), (0x30A1...0x30FA, .katakana),
            (0x3105...0x312F, .bopomofo), (0x3131...0x318E, .hangul), (0x31F0...0x31FF, .katakana),
            (0x3400...0x4DBF, .han), (0x4E00...0x9FFF, .han), (0xA640...0xA69F, .cyrillic), (0xA720...0xA7FF, .latin),
            (0xAB30...0xAB6F, .latin), (0xAB70...0xABBF, .cherokee), (0xAC00...0xD7A3, .hangul),
            (0xF900...0xFAFF, .han), (0xFB00...0xFB06, .latin), (0xFF21...0xFF5A, .latin),
            (0x2_0000...0x3_FFFF, .han),
        ]

        /// The scripts of a label's letters; digits and hyphens have no script.
        static func all(in label: Substring) -> Set<Script> {
            let letters = label.unicodeScalars.filter(\.properties.isAlphabetic)
            return Set(letters.compactMap { letter in ranges.first { $0.0.contains(letter.value) }?.1 })
        }
    }
}
