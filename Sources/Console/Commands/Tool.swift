/// A tool as the console shows it: its profile key, its letter, its name.
package enum Tool: String, CaseIterable, Sendable, Hashable {
    case throttle
    case breakpoints
    case mapRemote = "map-remote"
    case mapLocal = "map-local"
    case noCaching = "no-caching"
    case block
    case allow
    case rewrite
    case blockCookies = "block-cookies"
    case dnsSpoofing = "dns-spoofing"
    case mirror

    /// Charles' letter for it, where Charles has one.
    package var letter: String {
        switch self {
        case .throttle: "t"
        case .breakpoints: "k"
        case .mapRemote: "m"
        case .mapLocal: "l"
        case .noCaching: "n"
        case .block: "b"
        case .allow: "w"
        case .rewrite: "r"
        case .blockCookies: "c"
        case .dnsSpoofing: "d"
        case .mirror: "i"
        }
    }

    /// The keys that switch it: its letter after `x`, and the letter alone where no movement has it.
    var toggleKeys: [String] {
        let alone: Set<Tool> = [.throttle, .mapRemote, .noCaching, .block, .allow, .rewrite]
        return (alone.contains(self) ? [letter] : []) + ["x \(letter)"]
    }

    /// The key that opens its panel; the tools that Charles gives no letter are in the palette.
    var panelKey: String? {
        [.blockCookies, .dnsSpoofing, .mirror].contains(self) ? "x \(letter.uppercased())" : letter.uppercased()
    }

    package var title: String {
        switch self {
        case .throttle: "Throttle"
        case .breakpoints: "Breakpoints"
        case .mapRemote: "Map remote"
        case .mapLocal: "Map local"
        case .noCaching: "No caching"
        case .block: "Block list"
        case .allow: "Allow list"
        case .rewrite: "Rewrite"
        case .blockCookies: "Block cookies"
        case .dnsSpoofing: "DNS spoofing"
        case .mirror: "Mirror"
        }
    }

    /// The tool that a word means: its key, its letter, or the beginning of its name.
    package init?(word: String) {
        let word = word.lowercased()
        let found =
            Tool.allCases.first { $0.rawValue == word || $0.letter == word }
            ?? Tool.allCases.first { $0.rawValue.hasPrefix(word) || $0.title.lowercased().hasPrefix(word) }
        guard let found, !word.isEmpty else { return nil }
        self = found
    }
}
