package import HTTPModel
package import Rules

extension ToolRegistry {
    /// All tools in the order of menus.
    package static let standard = ToolRegistry([
        .throttle,
        .breakpoints,
        .mapRemote,
        .mapLocal,
        .noCaching,
        .blockList,
        .allowList,
        .rewrite,
        .blockCookies,
        .dnsSpoofing,
        .mirror,
    ])
}

extension RuleProfile {
    /// Reads a profile from its files and those that they include. Texts in `edited` replace those in the files of
    /// their names, which need not exist. With `takesPipes` a file that is not included may be the output of a command,
    /// as the shell's `<(…)` names it; it is waited for until it is silent for five seconds, so this is for the
    /// beginning of a command. Throws everything that is wrong.
    package static func load(
        paths: [String],
        edited: [ProfileSource] = [],
        takesPipes: Bool = false
    ) throws(ProfileError) -> RuleProfile {
        try RuleProfile(sources: ProfileSource.read(paths, edited: edited, takesPipes: takesPipes))
    }

    /// Reads a profile from one text; `file` is its name in issues. Throws everything that is wrong.
    package init(_ text: String, file: String) throws(ProfileError) {
        try self.init(sources: [ProfileSource(file: file, text: text)])
    }

    package init(sources: [ProfileSource]) throws(ProfileError) { try self.init(sources: sources, tools: .standard) }
}

extension EditableProfile {
    package init(text: String, file: String?, among others: [ProfileSource] = []) {
        self.init(text: text, file: file, among: others, tools: .standard)
    }
}
