package import HTTPModel

/// Which exchanges are recorded; the tools act on the others, too.
package struct RecordRules: Sendable {
    private(set) var locations = LocationChoice()

    package var isEverything: Bool { locations.isEverything }

    /// Whether an exchange is recorded, by the client's URL; an undecrypted tunnel has just host and port.
    package func admits(_ url: RequestURL) -> Bool { locations.admits(url) }

    package var text: String? { locations.text("recorded", nothing: "nothing", everything: "everything") }
}

extension RecordRules {
    static let keys: [GrammarKey] = [
        GrammarKey("only", .locations, fallback: "everything")
            .example("[ \"*.example.com\", \"localhost:3000/api/*\" ]")
            .means("The exchanges to record; others are not recorded."),
        GrammarKey("except", .locations, example: "[ \"*.telemetry.example\", \"*/health\" ]", fallback: "nothing")
            .means("The exchanges not to record."),
    ]

    /// Adds the lists of one file to those of earlier files.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "record", keys: RecordRules.keys) else { return }
        locations.add(fields, &reader)
    }
}
