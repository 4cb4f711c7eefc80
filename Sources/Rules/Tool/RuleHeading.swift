package import ExchangeCore
package import HTTPModel

/// What every rule of every tool has: a name, a place in a file, and the requests it is for.
package struct RuleHeading: Sendable {
    /// What traces and messages call it: the name it was given, or `rule 3`.
    package var name: String
    /// Where it stands.
    package var place: ProfilePlace
    /// Whether it is in force.
    package var isEnabled: Bool
    /// The requests it is for.
    package var scope: RuleScope
    /// Whether it may leave requests alone that its scope means.
    package var isConditional = false
    /// What it does, in words: `answer 403`, `to http://localhost:3000/`.
    package var action: String

    package init(
        name: String,
        place: ProfilePlace,
        isEnabled: Bool = true,
        scope: RuleScope = RuleScope(),
        action: String = ""
    ) {
        self.name = name
        self.place = place
        self.isEnabled = isEnabled
        self.scope = scope
        self.action = action
    }
}

/// A place in a profile's file.
package struct ProfilePlace: Sendable, Hashable, CustomStringConvertible {
    /// The file, as it was named to us.
    package var file: String
    /// The line, from 1.
    package var line: Int
    /// The column in characters, from 1.
    package var column: Int

    /// Names a place.
    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// In the form that editors jump to: `file:line:column`.
    package var description: String { "\(file):\(line):\(column)" }
}

/// The requests that a rule is for.
package struct RuleScope: Sendable, Hashable {
    /// The locations, of which one must match; `nil` for every request.
    package var locations: [Location]?
    /// Locations of which none may match.
    package var exceptions: [Location]
    /// The methods, in upper case; empty for any.
    package var methods: Set<String>

    /// Creates a scope; without arguments it means every request.
    package init(locations: [Location]? = nil, exceptions: [Location] = [], methods: Set<String> = []) {
        self.locations = locations
        self.exceptions = exceptions
        self.methods = methods
    }

    /// Whether a request is meant.
    package func matches(_ opening: ExchangeOpening) -> Bool {
        (locations?.contains { $0.matches(opening.url) } ?? true) && admits(opening)
    }

    /// Whether a request that one of the locations matches is meant.
    func admits(_ opening: ExchangeOpening) -> Bool {
        (methods.isEmpty || methods.contains(opening.head.method))
            && (exceptions.isEmpty || !exceptions.contains { $0.matches(opening.url) })
    }

    /// Whether every request is meant.
    package var isEverything: Bool {
        exceptions.isEmpty && methods.isEmpty && (locations?.contains { $0.matchesEverything } ?? true)
    }

    /// For example `GET, POST http://a.example/*, b.example except b.example/ads/*`; `*` for everything.
    package var text: String {
        let methods = self.methods.isEmpty ? "" : self.methods.sorted().joined(separator: ", ") + " "
        let places = locations.map { $0.map(\.description).joined(separator: ", ") } ?? "*"
        let without = exceptions.isEmpty ? "" : " except \(exceptions.map(\.description).joined(separator: ", "))"
        return methods + (places.isEmpty ? "nothing" : places) + without
    }
}
