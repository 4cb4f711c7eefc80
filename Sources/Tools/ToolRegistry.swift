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
    /// Reads a profile of Sluice's tools from its files and those that they include.
    package static func load(
        paths: [String],
        edited: [ProfileSource] = [],
        takesPipes: Bool = false
    ) throws(ProfileError) -> RuleProfile {
        try load(paths: paths, edited: edited, takesPipes: takesPipes, tools: .standard)
    }

    package init(_ text: String, file: String) throws(ProfileError) {
        try self.init(text, file: file, tools: .standard)
    }

    package init(sources: [ProfileSource]) throws(ProfileError) { try self.init(sources: sources, tools: .standard) }
}

extension ProfileHelp {
    package static func text(for key: String? = nil) throws(UnknownKeyError) -> String {
        try text(for: key, of: .standard)
    }

    package static func keys(within path: String? = nil) -> [GrammarKey]? { keys(within: path, of: .standard) }

    package static func names(for text: String) -> [(name: String, summary: String)] { names(for: text, of: .standard) }
}

extension EditableProfile {
    package init(text: String, file: String?, among others: [ProfileSource] = []) {
        self.init(text: text, file: file, among: others, tools: .standard)
    }
}
