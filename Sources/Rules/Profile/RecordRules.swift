package import HTTPModel

/// Which exchanges are recorded; the others pass, and the tools act on them all the same.
package struct RecordRules: Sendable {
    /// A location, and where the profile has it.
    struct Entry: Sendable {
        var location: Location
        var place: ProfilePlace
    }

    /// `nil` for every exchange.
    private(set) var only: [Entry]?
    private(set) var except: [Entry] = []

    /// Every exchange is recorded.
    init() {}

    package var isEverything: Bool { only == nil && except.isEmpty }

    /// Whether an exchange is recorded, by the URL as the client sent it; a tunnel that is not decrypted has just host and
    /// port.
    package func admits(_ url: RequestURL) -> Bool {
        (only?.contains { $0.location.matches(url) } ?? true) && !except.contains { $0.location.matches(url) }
    }

    /// `recorded: LOCATIONS except LOCATIONS`; `nil` where every exchange is recorded.
    package var text: String? {
        func list(_ entries: [Entry]) -> String { entries.map(\.location.description).joined(separator: ", ") }
        guard !isEverything else { return nil }
        let recorded = only.map { $0.isEmpty ? "nothing" : list($0) } ?? "everything"
        return "recorded: \(recorded)\(except.isEmpty ? "" : " except \(list(except))")"
    }
}

extension RecordRules {
    static let keys: [GrammarKey] = [
        GrammarKey(
            "only",
            .locations,
            example: "[ \"*.example.com\", \"localhost:3000/api/*\" ]",
            fallback: "everything"
        )
        .means("What is recorded; the rest passes unrecorded."),
        GrammarKey("except", .locations, example: "[ \"*.telemetry.example\", \"*/health\" ]", fallback: "nothing")
            .means("What is not recorded."),
    ]

    /// Adds what one file says: both lists are gathered over the files of a profile.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "record", keys: RecordRules.keys) else { return }
        func entries(_ node: Node) -> [Entry] {
            let place = reader.place(node)
            return reader.locations(node).map { Entry(location: $0, place: place) }
        }
        if let node = fields["only"] { only = (only ?? []) + entries(node) }
        if let node = fields["except"] { except += entries(node) }
    }
}
