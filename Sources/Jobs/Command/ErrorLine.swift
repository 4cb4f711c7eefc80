/// An error as Unix tools print it: the program's name, a colon, and a sentence that begins in lower case.
package enum ErrorLine {
    package static func text(_ error: String) -> String {
        var lines = error.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        if let first = lines.first { lines[0] = "sluice: " + lowered(first) }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Names keep their capital.
    private static let names: Set<String> = [
        "Apple", "Charles", "Chrome", "Chromium", "Fiddler", "Firefox", "Java", "Linux", "Lua", "OpenSSL", "Python",
        "Sluice", "U",
    ]

    /// The first word in lower case, unless it is a name or has further capitals: `HTTP/2`, `cURL`.
    private static func lowered(_ sentence: String) -> String {
        let word = sentence.prefix { $0.isLetter }
        guard let first = word.first, first.isUppercase, !names.contains(String(word)),
            word.dropFirst().allSatisfy(\.isLowercase)
        else { return sentence }
        return first.lowercased() + sentence.dropFirst()
    }
}
