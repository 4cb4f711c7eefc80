package import HTTPModel

extension ProfileSource {
    /// Reads one file, without those that it includes.
    ///
    /// - Throws: ``ProfileError`` where it cannot be read.
    package static func read(file: String) throws(ProfileError) -> ProfileSource {
        ProfileSource(file: file, text: try ProfileText.read(file))
    }

    /// The same for every way to name the same file.
    package var identity: String { ProfileText.canonical(file) }

    /// Reads files and those that they include, which come before them; each is read once.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - edited: texts that count in the place of what is in the files of their names.
    ///   - takesPipes: whether the output of a command, which is waited for, will do for a file; not for included ones.
    /// - Returns: the files in the order in which their rules stand.
    /// - Throws: ``ProfileError`` for a file that cannot be read, at the place where it is named.
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

        /// Nobody nests deeper, or has more files.
        private static let (mostLevels, mostFiles) = (16, 256)

        mutating func add(
            _ path: String,
            includedBy chain: [String],
            takesPipes: Bool = false
        ) throws(ProfileError) {
            let key = ProfileText.canonical(path)
            guard !seen.contains(key) else { return }
            let text = if let text = edited[key] { text } else { try ProfileText.read(path, takesPipes: takesPipes) }
            let source = ProfileSource(file: path, text: text)
            for (included, node) in try includes(of: source) {
                let includedKey = ProfileText.canonical(included)
                let reason: String? =
                    if includedKey == key || chain.contains(includedKey) {
                        "includes itself, by way of \((chain + [key]).joined(separator: " → "))"
                    } else if chain.count >= Gathering.mostLevels || sources.count >= Gathering.mostFiles {
                        "is included too deep, or one file too many"
                    } else {
                        nil
                    }
                if let reason { throw ProfileError("\(included) \(reason)", file: path, at: node) }
                do {
                    try add(included, includedBy: chain + [key])
                } catch {
                    // A file that cannot be read is missed where it is named.
                    guard let issue = error.issues.first, issue.file == included, issue.isUnreadable else {
                        throw error
                    }
                    throw ProfileError("\(included) \(issue.message)", file: path, at: node)
                }
            }
            seen.insert(key)
            sources.append(source)
        }

        /// The files that a text names under `include`; whatever else is wrong with it is found later.
        private func includes(of source: ProfileSource) throws(ProfileError) -> [(String, Node)] {
            // Most profiles include nothing, and need not be parsed twice.
            guard source.text.contains("include"), let node = try ProfileDocument(source).root?["include"] else {
                return []
            }
            var reader = ProfileReader(file: source.file)
            return node.members.compactMap { entry in reader.path(entry, "include").map { ($0, entry) } }
        }
    }
}
