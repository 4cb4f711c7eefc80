public import ExchangeCore
public import HTTPModel

/// What every rule of every tool has: a name, a place in a file, and the requests it is for.
public struct RuleHeading: Sendable {
    /// What traces and messages call it: the name it was given, or `rule 3`.
    public var name: String
    /// Where it stands.
    public var place: ProfilePlace
    /// Whether it is in force.
    public var isEnabled: Bool
    /// The requests it is for.
    public var scope: RuleScope
    /// Whether it may leave requests alone that its scope means.
    public var isConditional = false
    /// What it does, in words: `answer 403`, `to http://localhost:3000/`.
    public var action: String

    /// Puts a heading together.
    public init(
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
public struct ProfilePlace: Sendable, Hashable, CustomStringConvertible {
    /// The file, as it was named to us.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column in characters, from 1.
    public var column: Int

    /// Names a place.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// In the form that editors jump to: `file:line:column`.
    public var description: String { "\(file):\(line):\(column)" }
}

/// The requests that a rule is for.
public struct RuleScope: Sendable, Hashable {
    /// The locations, of which one must match; `nil` for every request.
    public var locations: [Location]?
    /// Locations of which none may match.
    public var exceptions: [Location]
    /// The methods, in upper case; empty for any.
    public var methods: Set<String>

    /// Creates a scope; without arguments it means every request.
    public init(locations: [Location]? = nil, exceptions: [Location] = [], methods: Set<String> = []) {
        self.locations = locations
        self.exceptions = exceptions
        self.methods = methods
    }

    /// Whether a request is meant.
    public func matches(_ opening: ExchangeOpening) -> Bool {
        (locations?.contains { $0.matches(opening.url) } ?? true) && admits(opening)
    }

    /// Whether a request that one of the locations matches is meant.
    func admits(_ opening: ExchangeOpening) -> Bool {
        (methods.isEmpty || methods.contains(opening.head.method))
            && (exceptions.isEmpty || !exceptions.contains { $0.matches(opening.url) })
    }

    /// Whether every request is meant.
    public var isEverything: Bool {
        exceptions.isEmpty && methods.isEmpty && (locations?.contains { $0.matchesEverything } ?? true)
    }

    /// For example `GET, POST http://a.example/*, b.example except b.example/ads/*`; `*` for everything.
    public var text: String {
        let methods = self.methods.isEmpty ? "" : self.methods.sorted().joined(separator: ", ") + " "
        let places = locations.map { $0.map(\.description).joined(separator: ", ") } ?? "*"
        let without = exceptions.isEmpty ? "" : " except \(exceptions.map(\.description).joined(separator: ", "))"
        return methods + (places.isEmpty ? "nothing" : places) + without
    }
}
