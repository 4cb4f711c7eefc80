package import Rules
import Tools

/// The tools as the console shows them.
extension Tool {
    package static var all: [Tool] { ToolRegistry.standard.tools }

    /// The keys that switch it: its letter after `x`, and the letter alone where no movement has it.
    var toggleKeys: [String] {
        (descriptor.letterAlone.contains(.toggle) ? [descriptor.letter] : []) + ["x \(descriptor.letter)"]
    }

    /// The key that opens its panel; the tools that Charles gives no letter have theirs after `x`.
    var panelKey: String { (descriptor.letterAlone.contains(.panel) ? "" : "x ") + descriptor.letter.uppercased() }

    /// The tool that a word means: its key, its letter, or the beginning of its name.
    package init?(word: String) {
        let word = word.lowercased()
        let found =
            Tool.all.first { $0.key == word || $0.letter == word }
            ?? Tool.all.first { $0.key.hasPrefix(word) || $0.title.lowercased().hasPrefix(word) }
        guard let found, !word.isEmpty else { return nil }
        self = found
    }
}
