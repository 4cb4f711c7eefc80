import HTTPModel

/// The locations under `only` and `except` in one part of a profile, from all its files.
struct LocationChoice: Sendable {
    struct Entry: Sendable {
        var location: Location
        var place: ProfilePlace
    }

    /// `nil` for all.
    private(set) var only: [Entry]?
    private(set) var except: [Entry] = []

    var isEverything: Bool { only == nil && except.isEmpty }

    func admits(_ url: RequestURL) -> Bool { includes(url) && !excludes(url) }

    func includes(_ url: RequestURL) -> Bool { only?.contains { $0.location.matches(url) } ?? true }

    func excludes(_ url: RequestURL) -> Bool { except.contains { $0.location.matches(url) } }

    /// Adds the choice of one file, read by `locations`.
    mutating func add(
        _ fields: ProfileFields,
        _ reader: inout ProfileReader,
        _ locations: (inout ProfileReader, Node) -> [Location] = { $0.locations($1) }
    ) {
        func entries(_ node: Node) -> [Entry] {
            let place = reader.place(node)
            return locations(&reader, node).map { Entry(location: $0, place: place) }
        }
        if let node = fields["only"] { only = (only ?? []) + entries(node) }
        if let node = fields["except"] { except += entries(node) }
    }

    /// The locations of `only`, or `nothing` if it is empty; `nil` for everything.
    func onlyText(_ nothing: String) -> String? { only.map { $0.isEmpty ? nothing : LocationChoice.list($0) } }

    var exceptText: String? { except.isEmpty ? nil : LocationChoice.list(except) }

    /// `recorded: LOCATIONS except LOCATIONS`; `nil` for everything.
    func text(_ verb: String, nothing: String, everything: String) -> String? {
        guard !isEverything else { return nil }
        return "\(verb): \(onlyText(nothing) ?? everything)\(exceptText.map { " except \($0)" } ?? "")"
    }

    private static func list(_ entries: [Entry]) -> String {
        entries.map(\.location.description).joined(separator: ", ")
    }
}

/// Compares locations, not their places.
extension LocationChoice: Hashable {
    private var locations: [[Location]?] { [only?.map(\.location), except.map(\.location)] }

    static func == (left: LocationChoice, right: LocationChoice) -> Bool { left.locations == right.locations }

    func hash(into hasher: inout Hasher) { hasher.combine(locations) }
}
