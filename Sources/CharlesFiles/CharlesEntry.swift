import HTTPModel
import Rules

/// An entry of a tool's list, read from Charles' element.
protocol CharlesEntry: Sendable, Hashable {
    static var element: String { get }
    /// The elements in it.
    static var children: [CharlesElement<Self>] { get }
    /// An entry with the values of elements that are not there.
    init()
    /// Checks the element before its children are read; `false` if it cannot be used.
    mutating func begin(_ element: XMLElement, _ reading: inout CharlesReading) -> Bool
}

extension CharlesEntry {
    /// Reads the element; what is not understood goes to the reading's report.
    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        self.init()
        reading.check(element, knows: Self.children.map(\.name))
        guard begin(element, &reading) else { return nil }
        for child in Self.children { child.read(&self, element, &reading) }
    }

    mutating func begin(_ element: XMLElement, _ reading: inout CharlesReading) -> Bool { true }
}

/// An element within an entry, and how it is read into the entry.
struct CharlesElement<Entry> {
    let name: String
    let read: (inout Entry, _ parent: XMLElement, inout CharlesReading) -> Void

    static func flag(_ name: String, _ path: WritableKeyPath<Entry, Bool>) -> CharlesElement {
        CharlesElement(name: name) { $0[keyPath: path] = $2.flag($1, name, default: $0[keyPath: path]) }
    }

    static func text(_ name: String, _ path: WritableKeyPath<Entry, String>) -> CharlesElement {
        CharlesElement(name: name) { entry, parent, _ in entry[keyPath: path] = parent[name]?.text ?? "" }
    }

    static func location(_ name: String, _ path: WritableKeyPath<Entry, CharlesLocation>) -> CharlesElement {
        CharlesElement(name: name) { $0[keyPath: path] = CharlesLocation($1[name], &$2) }
    }

    /// An element that is read elsewhere, or has no meaning here.
    static func known(_ name: String) -> CharlesElement { CharlesElement(name: name) { _, _, _ in } }
}

extension CharlesLocation {
    /// Reads the parts; one that is not there is blank.
    init(_ element: XMLElement?, _ reading: inout CharlesReading) {
        self.init()
        guard let element else { return }
        reading.check(element, knows: LocationPattern.Field.allCases.map(\.rawValue))
        for field in LocationPattern.Field.allCases { self[field] = element[field.rawValue]?.text ?? "" }
    }

    /// The part of the URL that a location of a profile has under the same name.
    subscript(field: LocationPattern.Field) -> String {
        get { self[keyPath: CharlesLocation.path(field)] }
        set { self[keyPath: CharlesLocation.path(field)] = newValue }
    }

    private static func path(_ field: LocationPattern.Field) -> WritableKeyPath<CharlesLocation, String> {
        switch field {
        case .protocol: \.protocol
        case .host: \.host
        case .port: \.port
        case .path: \.path
        case .query: \.query
        }
    }
}

extension CharlesRemoteMapping: CharlesEntry {
    static let element = "mapMapping"
    static var children: [CharlesElement<Self>] {
        [
            .location("sourceLocation", \.from), .location("destLocation", \.to),
            .flag("preserveHostHeader", \.preservesHost), .flag("enabled", \.isEnabled),
        ]
    }
}

extension CharlesLocalMapping: CharlesEntry {
    static let element = "mapLocalMapping"
    static var children: [CharlesElement<Self>] {
        [
            .location("sourceLocation", \.from), .text("dest", \.to), .flag("enabled", \.isEnabled),
            .flag("caseSensitive", \.isCaseSensitive),
        ]
    }
}

extension CharlesBreakpoint: CharlesEntry {
    static let element = "breakpoint"
    /// The method is in an element called `scheme`.
    static var children: [CharlesElement<Self>] {
        [
            .location("location", \.location), .text("scheme", \.method),
            .flag("request", \.onRequest), .flag("response", \.onResponse), .flag("enabled", \.isEnabled),
        ]
    }
}

extension CharlesSpoof: CharlesEntry {
    static let element = "dnsSpoof"
    static var children: [CharlesElement<Self>] {
        [.text("name", \.host), .text("address", \.address), .flag("enabled", \.isEnabled)]
    }
}
