package import Content
package import Description
package import HTTPModel
import Text

/// A part of a message by its name, for commands without a cursor.
package enum CopyPart {
    /// The text of a part: the `value`, `path` or `header` at a place or of a header's name, or the whole `page`. A
    /// place without a root is in the message of the page. Throws `CurlError` if there is no such value.
    package static func text(
        _ form: CopyForm,
        _ name: String,
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        _ options: DetailOptions
    ) throws -> String {
        if form == .page {
            return DetailBuilder(exchange, source: source).document(options).lines.map(\.plain).joined(separator: "\n")
        }
        let root: Place.Root = options.page == .request ? .request : .response
        if form != .path, let lines = lines(form, name.lowercased(), exchange, root) { return lines }
        let place: Place
        do throws(PlaceError) {
            place = try Place(name, in: root)
        } catch {
            throw CurlError(description: "\(VisibleText.of(name)): \(error), at character \(error.offset + 1).")
        }
        switch (form, place.part) {
        case (_, .json) where form != .header: return try values(form, place, exchange, source)
        case (.path, _): return place.description
        case (_, .header) where place.steps.count == 1:
            if let lines = lines(form, place.name ?? "", exchange, place.root) { return lines }
            throw CurlError(description: "There is no \(place).")
        case (.header, _): throw CurlError(description: "\(place) is not a header line.")
        default:
            let places = ExchangePlaces(exchange, source: source)
            let values = try places.values(at: place)
            guard values.isEmpty else { return values.map(\.text).joined(separator: "\n") }
            throw CurlError(description: "There is no \(place)\(places.problem.map { ": \($0)" } ?? "").")
        }
    }

    /// The header lines of a name, or only their values; `nil` if the message has no such line.
    private static func lines(
        _ form: CopyForm,
        _ name: String,
        _ exchange: RecordedExchange,
        _ root: Place.Root
    ) -> String? {
        let fields = exchange.messages.fields(of: root.side ?? .requestReceived).filter { $0.name.lowercased() == name }
        guard !fields.isEmpty else { return nil }
        return fields.map { form == .header ? "\($0.name): \($0.value)" : $0.value }.joined(separator: "\n")
    }

    private static func values(
        _ form: CopyForm,
        _ place: Place,
        _ exchange: RecordedExchange,
        _ source: any ExchangeSource
    ) throws -> String {
        let body = LoadedBody(exchange, place.root.side ?? .requestReceived, source: source, limit: 8 << 20)
        guard let text = body.text?.text, let tree = try? JSONTree(Array(text.utf8)) else {
            throw CurlError(description: "The body is not JSON that can be read to its end.")
        }
        let nodes = tree.nodes(at: place.steps)
        guard !nodes.isEmpty else { throw CurlError(description: "Nothing found: \(tree.misses(place)).") }
        if form == .path {
            return tree.places(of: nodes, in: Place(place.root, place.part)).map(\.description).joined(separator: "\n")
        }
        return nodes.map { tree.string(of: $0) ?? tree.text(of: $0) }.joined(separator: "\n")
    }
}
