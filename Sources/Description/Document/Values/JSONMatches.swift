import Content
import Text

/// What of a body fits a path: each value with its own path.
struct JSONMatches {
    let path: String
    let body: LoadedBody

    /// Returns whether something fits.
    func write(into writer: inout DetailWriter) -> Bool {
        let path: JSONPath
        do {
            path = try JSONPath(self.path)
        } catch {
            writer.add("\(VisibleText.of(self.path)): \(error), at character \(error.offset + 1).", .failure)
            return false
        }
        guard let (text, _) = body.text, !body.isEmpty else {
            let words = "The body is \(body.isEmpty ? "empty" : "no text"), so the path '\(path.text)' leads nowhere"
            writer.add("\(words)\(way(writer)).", .warning)
            return false
        }
        // JSON lines are a text each.
        let isLines = body.mediaType.flatMap { StreamCounter.Format(mediaType: $0.essence) } == .jsonLines
        let texts = isLines ? text.utf8.split { $0 == 0x0A || $0 == 0x1E }.map { Array($0) } : [Array(text.utf8)]
        var count = 0
        var miss = ""
        let heading = writer.place
        writer.add("")
        for (number, bytes) in texts.enumerated() where writer.takesMore() {
            do {
                let tree = try JSONTree(bytes)
                let nodes = path.matches(in: tree)
                if nodes.isEmpty { miss = path.misses(in: tree) }
                count += nodes.count
                write(nodes, of: tree, line: isLines ? number + 1 : nil, &writer)
            } catch {
                miss =
                    body.isCut
                    ? "only the first \(Measures.size(Int64(bytes.count))) of the body are looked at, and they are no whole JSON"
                    : "the body is no JSON: \(error)"
            }
        }
        let words = count > 0 ? count.of("value") + " \(count == 1 ? "fits" : "fit")" : "nothing fits: \(miss)"
        writer.replace(
            heading,
            [Span(path.text, .heading), Span("  \(words)\(way(writer))", count > 0 ? .faint : .warning)]
        )
        return count > 0
    }

    private func way(_ writer: DetailWriter) -> String { writer.options.wayToWhole.map { "; \($0)" } ?? "" }

    private func write(_ nodes: [Int], of tree: JSONTree, line: Int?, _ writer: inout DetailWriter) {
        for (node, path) in zip(nodes, tree.paths(to: nodes)) where writer.takesMore() {
            let name = [Span(line.map { "line \($0)  " } ?? "", .faint), Span(path, .key), Span("  ", .text)]
            let start = writer.place
            var layout = JSONLayout(tree.bytes, value: tree.nodes[node].range, name: name.filter { !$0.text.isEmpty })
            // What the tree was read from is JSON.
            try? layout.write(into: &writer)
            if writer.place == start { break }
        }
    }
}
