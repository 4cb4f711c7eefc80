package import HTTPModel

/// What every rule of every tool has: a name, a place in a file, and the requests that it matches.
package struct RuleHeading: Sendable {
    /// The name in traces and messages: the user's name, or `rule 3`.
    package var name: String
    package var place: ProfilePlace
    package var isEnabled = true
    package var scope = RuleScope()
    /// Of the requests in scope, the rule acts only on those for which this holds; `nil` for all.
    package var condition: RuleCondition?
    /// What the values in the rule's texts need; `nil` if the texts have no values.
    package var values: RuleValues?
    /// Whether the rule may skip requests in its scope.
    package var isConditional = false
    /// Its effect: `answer 403`, `to http://localhost:3000/`.
    package var action = ""

    var withNormalisedPaths: RuleHeading {
        var heading = self
        heading.scope.locations = scope.locations?.map(\.withNormalisedPath)
        heading.scope.exceptions = scope.exceptions.map(\.withNormalisedPath)
        return heading
    }
}

package struct ProfilePlace: Sendable, Hashable, CustomStringConvertible {
    /// As the user named it.
    package var file: String
    /// From 1.
    package var line: Int
    /// In characters, from 1.
    package var column: Int

    package var description: String { "\(file):\(line):\(column)" }
}

/// The requests that a rule matches: every request, if nothing is set.
package struct RuleScope: Sendable, Hashable {
    /// One of them must match; `nil` for every request.
    package var locations: [Location]?
    /// None of them may match.
    package var exceptions: [Location] = []
    /// In upper case; empty for any.
    package var methods: Set<String> = []

    package func matches(method: String, url: RequestURL) -> Bool {
        (locations?.contains { $0.matches(url) } ?? true) && admits(method: method, url: url)
    }

    /// Whether a request that matches a location is in scope.
    func admits(method: String, url: RequestURL) -> Bool {
        (methods.isEmpty || methods.contains(method))
            && (exceptions.isEmpty || !exceptions.contains { $0.matches(url) })
    }

    /// For example `GET, POST http://a.example/*, b.example except b.example/ads/*`; `*` for everything.
    package var text: String {
        let methods = self.methods.isEmpty ? "" : self.methods.sorted().joined(separator: ", ") + " "
        let places = locations.map { $0.map(\.description).joined(separator: ", ") } ?? "*"
        let without = exceptions.isEmpty ? "" : " except \(exceptions.map(\.description).joined(separator: ", "))"
        return methods + (places.isEmpty ? "nothing" : places) + without
    }
}
