package import Rules
import Tools

/// The tools as the console shows them.
extension Tool {
    package static var all: [Tool] { ToolRegistry.standard.tools }

    /// The keys that switch it: `x` and its letter, and the letter alone where it moves nothing.
    var toggleKeys: [String] {
        (descriptor.letterAlone.contains(.toggle) ? [descriptor.letter] : []) + ["x \(descriptor.letter)"]
    }

    /// The key that opens its panel: its capital letter, after `x` for tools to which Charles gives no letter.
    var panelKey: String { (descriptor.letterAlone.contains(.panel) ? "" : "x ") + descriptor.letter.uppercased() }

    /// The tool with that key or letter, or whose name begins so.
    package init?(word: String) {
        let word = word.lowercased()
        let found =
            Tool.all.first { $0.key == word || $0.letter == word }
            ?? Tool.all.first { $0.key.hasPrefix(word) || $0.title.lowercased().hasPrefix(word) }
        guard let found, !word.isEmpty else { return nil }
        self = found
    }
}
