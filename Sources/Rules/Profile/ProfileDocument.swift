package import HTTPModel

/// One file of a profile with the tree of its text: rules are compiled, compared, edited and exported from it.
package struct ProfileDocument {
    package let source: ProfileSource
    package let root: Node?

    package init(_ source: ProfileSource) throws(ProfileError) {
        self.source = source
        root = try ProfileText.tree(source.text, file: source.file)
    }

    /// The base of relative paths.
    package var directory: String { ProfileText.directory(of: source.file) }

    func place(_ node: Node) -> ProfilePlace { ProfilePlace(file: source.file, line: node.line, column: node.column) }
}

extension RuleProfile {
    /// The content of each rule by its place: the same text where only comments, quotes or the order of keys differ.
    package var ruleTexts: [ProfilePlace: String] {
        var texts: [ProfilePlace: String] = [:]
        for source in sources {
            guard let document = try? ProfileDocument(source) else { continue }
            for section in registry.sections {
                for rule in document.root?[section.key]?.members ?? [] { texts[document.place(rule)] = rule.text() }
            }
        }
        return texts
    }
}
