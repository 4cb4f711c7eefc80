import Content
import HTTPModel
import Support

/// Reads the first line as a place, the rest as JSON: a place is printed as it is read, each value's own place must lead
/// back to it, and a place without a value must say so.
enum PathProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(decoding: parts.first ?? [], as: UTF8.self)
        let place = try place(text)
        _ = (TextValue(text), JSONWebToken(text), BasicCredentials(text), EpochTime(text))
        guard parts.count > 1 else { return }
        let body = Array(parts[1])
        // Other texts have no places.
        guard UTF8Check.isValid(body), let tree = try? JSONTree(body), !tree.nodes.isEmpty else { return }
        if let place {
            let nodes = tree.nodes(at: place.steps)
            if let values = try? JSONPlaces.values(of: body, at: place.steps) {
                try demand(values.count == nodes.count, "\(text) has \(values.count) values at \(nodes.count) nodes")
            }
            try demand(Set(nodes).count == nodes.count, "\(text) leads to a value twice")
            try demand(nodes.allSatisfy(tree.nodes.indices.contains), "\(text) leads outside")
            try demand(!tree.misses(place).isEmpty, "no reason")
        }
        let some = Array(tree.nodes.indices.prefix(40))
        for (node, steps) in zip(some, tree.steps(to: some)) {
            let own = Place(.response, .json, steps).description
            do {
                let nodes = tree.nodes(at: try Place(own).steps)
                // A name may stand twice in an object.
                try demand(nodes.contains(node), "\(own.debugDescription) does not lead to \(node) but \(nodes)")
            } catch let error as PlaceError {
                throw ProbeError(description: "\(own.debugDescription) is no place: \(error)")
            }
        }
    }

    private static func place(_ text: String) throws -> Place? {
        let place: Place
        do throws(PlaceError) {
            place = try Place(text, in: .response)
        } catch {
            try demand((0...text.unicodeScalars.count).contains(error.offset), "offset \(error.offset)")
            try demand(!error.message.isEmpty, "no message")
            return nil
        }
        let again = try? Place(place.description)
        try demand(again == place, "\(text) is printed as another place: \(place)")
        return place
    }
}

/// Places and texts for the fuzzer's corpus.
enum PathSeeds {
    private static let json =
        #"{"a":[{"b":1,"c d":"\u00e9\ud83d\ude00"},-2.5e9,[[]]],"":{"*":null},"\u0301x":[true],"x\"]":{"a":{"a":2},"a":3}}"#

    static let all: [[UInt8]] = [
        "json", "json.a", "res.json.a[*]", "json.a[0].b", "json.a[-1]", "json[*].\"c d\"", "json[\"\"]",
        "json[\"x\\\"\"]", "json.a[1", "json.", "json.a..b", "json.\"\u{301}x\"[0]", "json.a[-9223372036854775808]",
        "json[\"\\ud83d\\u\"]", "json.\"\\ud83d\\ude00\"", "message#3.json.a", "message#99999999999999999999.json",
        "grpc.a.b", "graphql.variables.x[0]", "sent.req.header.Set-Cookie[1]", "req.cookie.\"a.b\"", ".items[].id",
        "$.a", "/a/0", "Basic dTpw", "1790000000", "eyJhbGciOiJub25lIn0.eyJleHAiOjE3OTAwMDAwMDB9.",
    ].map { Array("\($0)\n\(json)".utf8) }
}
