import Content
import HTTPModel
import Text

/// The values of a body at a place, each with its own place.
struct JSONMatches {
    let place: Place
    let body: LoadedBody

    /// Returns whether there are any.
    func write(into writer: inout DetailWriter) -> Bool {
        guard let (text, _) = body.text, !body.isEmpty else {
            let words = "The body is \(body.isEmpty ? "empty" : "not text"), so it has no \(place)"
            writer.add("\(words)\(way(writer)).", .warning)
            return false
        }
        let isLines = body.mediaType.flatMap { StreamCounter.Format(mediaType: $0.essence) } == .jsonLines
        let texts = isLines ? BodyView.texts(text) : [Array(text.utf8)].filter { $0.contains { $0 > 0x20 } }
        var count = 0
        var miss = ""
        let heading = writer.place
        writer.add("")
        for (number, bytes) in texts.enumerated() where writer.takesMore() {
            let place = isLines ? place.line(number + 1) ?? place : place
            do {
                let tree = try JSONTree(bytes)
                let nodes = tree.nodes(at: place.steps)
                if nodes.isEmpty { miss = tree.misses(place) }
                count += nodes.count
                write(nodes, of: tree, in: Place(place.root, place.part), &writer)
            } catch {
                miss =
                    body.isCut
                    ? "only the first \(Measures.size(Int64(bytes.count))) of the body are read, which is not whole JSON"
                    : "the body is not JSON: \(error)"
            }
        }
        let words = count > 0 ? count.of("value") : "nothing found: \(miss)"
        let role: Role = count > 0 ? .faint : .warning
        writer.replace(heading, [Span(place.description, .heading), Span("  \(words)\(way(writer))", role)])
        return count > 0
    }

    private func way(_ writer: DetailWriter) -> String { writer.options.wayToWhole.map { "; \($0)" } ?? "" }

    private func write(_ nodes: [Int], of tree: JSONTree, in whole: Place, _ writer: inout DetailWriter) {
        for (node, place) in zip(nodes, tree.places(of: nodes, in: whole)) where writer.takesMore() {
            let name = [Span(place.description, .key), Span("  ", .text)]
            let start = writer.place
            var layout = JSONLayout(tree.bytes, value: tree.nodes[node].range, name: name, at: whole)
            // The tree was read from the same bytes, so they are JSON.
            try? layout.write(into: &writer)
            if writer.place == start { break }
        }
    }
}
