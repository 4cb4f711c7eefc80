import Content
import Support

/// Reads the first line as a path of JSON, the rest as JSON: each value's own path must lead back to it, and what leads
/// nowhere must say so.
enum PathProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(decoding: parts.first ?? [], as: UTF8.self)
        let path = try path(text)
        _ = (TextValue(text), JSONWebToken(text), BasicCredentials(text), EpochTime(text))
        guard parts.count > 1, let tree = try? JSONTree(Array(parts[1])), !tree.nodes.isEmpty else { return }
        if let path {
            let nodes = path.matches(in: tree)
            try demand(Set(nodes).count == nodes.count, "\(text) leads to a value twice")
            try demand(nodes.allSatisfy(tree.nodes.indices.contains), "\(text) leads outside")
            try demand(!path.misses(in: tree).isEmpty, "no reason")
        }
        let some = Array(tree.nodes.indices.prefix(40))
        for (node, own) in zip(some, tree.paths(to: some)) {
            do {
                let nodes = try JSONPath(own).matches(in: tree)
                // A name may stand twice in an object.
                try demand(nodes.contains(node), "\(own.debugDescription) does not lead to \(node) but \(nodes)")
            } catch let error as JSONPathError {
                throw ProbeError(description: "\(own.debugDescription) is no path: \(error)")
            }
        }
    }

    private static func path(_ text: String) throws -> JSONPath? {
        do throws(JSONPathError) {
            return try JSONPath(text)
        } catch {
            try demand((0...text.unicodeScalars.count).contains(error.offset), "offset \(error.offset)")
            try demand(!error.description.isEmpty, "no message")
            return nil
        }
    }
}

/// Paths and texts for the fuzzer's corpus.
enum PathSeeds {
    private static let json =
        #"{"a":[{"b":1,"c d":"\u00e9\ud83d\ude00"},-2.5e9,[[]]],"":{"*":null},"\u0301x":[true],"x\"]":{"a":{"a":2},"a":3}}"#

    static let all: [[UInt8]] = [
        ".", ".a", ".a[]", ".a[0].b", ".a[-1]", "..a", ".[\"\"]", ".[\"x\\\"]\"]", ".\"c d\"", ".*", ".a[1", "..",
        ".a..b",
        ".[\"\u{301}x\"][0]", ".a[-9223372036854775808]", ".[\"\\ud83d\\u\"]", "Basic dTpw", "1790000000",
        "eyJhbGciOiJub25lIn0.eyJleHAiOjE3OTAwMDAwMDB9.",
    ].map { Array("\($0)\n\(json)".utf8) }
}
