package import HTTPModel

extension ProfileSource {
    /// Reads one file without the files that it includes.
    package static func read(file: String) throws(ProfileError) -> ProfileSource {
        ProfileSource(file: file, text: try ProfileText.read(file))
    }

    var root: Node? { get throws(ProfileError) { try ProfileText.tree(text, file: file) } }

    package var identity: String { ProfileText.canonical(file) }

    /// Reads files, and before each file those that it includes; each is read once. A text in `edited` replaces the
    /// content of the file with its name. With `takesPipes`, `paths` may name pipes, which are waited for. Throws
    /// ``ProfileError`` for a file that cannot be read, at the place where it is named.
    package static func read(
        _ paths: [String],
        edited: [ProfileSource] = [],
        takesPipes: Bool = false
    ) throws(ProfileError) -> [ProfileSource] {
        var gathering = Gathering(edited)
        for path in paths { try gathering.add(path, includedBy: [], takesPipes: takesPipes) }
        return gathering.sources
    }

    private struct Gathering {
        var sources: [ProfileSource] = []
        private var seen: Set<String> = []
        private let edited: [String: String]

        init(_ edited: [ProfileSource]) {
            self.edited = Dictionary(edited.map { ($0.identity, $0.text) }) { _, last in last }
        }

        private static let (mostLevels, mostFiles) = (16, 256)

        mutating func add(_ path: String, includedBy chain: [String], takesPipes: Bool = false) throws(ProfileError) {
            let key = ProfileText.canonical(path)
            guard !seen.contains(key) else { return }
            let text = if let text = edited[key] { text } else { try ProfileText.read(path, takesPipes: takesPipes) }
            let source = ProfileSource(file: path, text: text)
            for (included, node) in try includes(of: source) {
                func failure(_ reason: String) -> ProfileError {
                    ProfileError("\(included) \(reason)", file: path, at: node)
                }
                let chain = chain + [key]
                if chain.contains(ProfileText.canonical(included)) {
                    throw failure("includes itself through \(chain.joined(separator: " → "))")
                }
                if chain.count > Gathering.mostLevels || sources.count >= Gathering.mostFiles {
                    throw failure("includes are nested too deeply, or there are too many files")
                }
                do {
                    try add(included, includedBy: chain)
                } catch {
                    // An included file that cannot be read is reported at the `include` that names it.
                    guard let issue = error.issues.first, issue.file == included, issue.isUnreadable else {
                        throw error
                    }
                    throw failure(issue.message)
                }
            }
            seen.insert(key)
            sources.append(source)
        }

        /// The files that a text names under `include`; other errors in the text are found later.
        private func includes(of source: ProfileSource) throws(ProfileError) -> [(String, Node)] {
            // Most profiles include nothing, and need not be parsed twice.
            guard source.text.contains("include"), let node = try source.root?["include"] else { return [] }
            var reader = ProfileReader(file: source.file)
            return node.members.compactMap { entry in reader.path(entry, "include").map { ($0, entry) } }
        }
    }
}
