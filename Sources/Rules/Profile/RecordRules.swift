package import HTTPModel

/// Which exchanges are recorded; the others pass, and the tools act on them all the same.
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

    /// Adds what one file says: both lists are gathered over the files of a profile.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "record", keys: RecordRules.keys) else { return }
        locations.add(fields, &reader)
    }
}
