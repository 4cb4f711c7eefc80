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
    /// Reads a profile from its files and the files that they include. A text in `edited` replaces the content of the
    /// file with its name, which need not exist. With `takesPipes` a path may be a pipe, such as the shell's `<(…)`.
    /// Reading a pipe blocks, and fails if it is silent for five seconds: use this only when a command starts. Throws
    /// all errors together.
    package static func load(
        paths: [String],
        edited: [ProfileSource] = [],
        takesPipes: Bool = false
    ) throws(ProfileError) -> RuleProfile {
        try RuleProfile(sources: ProfileSource.read(paths, edited: edited, takesPipes: takesPipes))
    }

    /// Reads a profile from one text; `file` is its name in issues. Throws all errors together.
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
