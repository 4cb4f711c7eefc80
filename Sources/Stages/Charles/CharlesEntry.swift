/// An entry of a tool's list: to and from the element that Charles has for it.
protocol CharlesEntry: Sendable, Hashable {
    /// The element's name.
    static var element: String { get }
    /// Reads the element; what is not understood goes to the reading's report.
    init?(_ element: XMLElement, _ reading: inout CharlesReading)
    var xml: XMLElement { get }
}

extension XMLElement {
    init(_ name: String, _ flag: Bool) { self.init(name, flag ? "true" : "false") }

    init(_ name: String, _ number: Double, isInteger: Bool) {
        self.init(name, isInteger ? "\(Int(number.rounded()))" : "\(number)")
    }

    /// A location under a name of its own: just the parts that are not blank.
    init(_ name: String, _ location: CharlesLocation) {
        let parts = [
            ("protocol", location.protocol), ("host", location.host), ("port", location.port), ("path", location.path),
            ("query", location.query),
        ]
        self.init(name, parts.filter { !$0.1.isEmpty }.map { XMLElement($0.0, $0.1) })
    }

    /// A list of locations.
    init(_ places: [CharlesPlace]) {
        self.init(
            "locationPatterns",
            places.map {
                XMLElement("locationMatch", [XMLElement("location", $0.location), XMLElement("enabled", $0.isEnabled)])
            }
        )
    }
}

extension CharlesLocation {
    /// Reads the parts; none counts as blank.
    init(_ element: XMLElement?, _ reading: inout CharlesReading) {
        self.init()
        guard let element else { return }
        reading.check(element, knows: ["protocol", "host", "port", "path", "query"])
        `protocol` = element["protocol"]?.text ?? ""
        host = element["host"]?.text ?? ""
        port = element["port"]?.text ?? ""
        path = element["path"]?.text ?? ""
        query = element["query"]?.text ?? ""
    }
}

extension CharlesRemoteMapping: CharlesEntry {
    static let element = "mapMapping"

    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: ["sourceLocation", "destLocation", "preserveHostHeader", "enabled"])
        self.init(
            from: CharlesLocation(element["sourceLocation"], &reading),
            to: CharlesLocation(element["destLocation"], &reading),
            preservesHost: reading.flag(element, "preserveHostHeader", default: false),
            isEnabled: reading.flag(element, "enabled", default: true)
        )
    }

    var xml: XMLElement {
        XMLElement(
            "mapMapping",
            [
                XMLElement("sourceLocation", source), XMLElement("destLocation", destination),
                XMLElement("preserveHostHeader", preservesHost), XMLElement("enabled", isEnabled),
            ]
        )
    }
}

extension CharlesLocalMapping: CharlesEntry {
    static let element = "mapLocalMapping"

    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: ["sourceLocation", "dest", "enabled", "caseSensitive"])
        self.init(
            from: CharlesLocation(element["sourceLocation"], &reading),
            to: element["dest"]?.text ?? "",
            isCaseSensitive: reading.flag(element, "caseSensitive", default: true),
            isEnabled: reading.flag(element, "enabled", default: true)
        )
    }

    var xml: XMLElement {
        XMLElement(
            "mapLocalMapping",
            [
                XMLElement("sourceLocation", source), XMLElement("dest", path), XMLElement("enabled", isEnabled),
                XMLElement("caseSensitive", isCaseSensitive),
            ]
        )
    }
}

extension CharlesBreakpoint: CharlesEntry {
    static let element = "breakpoint"

    /// The method stands in an element that is called `scheme`.
    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: ["location", "scheme", "request", "response", "enabled"])
        self.init(
            CharlesLocation(element["location"], &reading),
            method: element["scheme"]?.text ?? "",
            onRequest: reading.flag(element, "request", default: false),
            onResponse: reading.flag(element, "response", default: false),
            isEnabled: reading.flag(element, "enabled", default: true)
        )
    }

    var xml: XMLElement {
        var children = [XMLElement("location", location)]
        if !method.isEmpty { children.append(XMLElement("scheme", method)) }
        children += [
            XMLElement("request", onRequest), XMLElement("response", onResponse), XMLElement("enabled", isEnabled),
        ]
        return XMLElement("breakpoint", children)
    }
}

extension CharlesSpoof: CharlesEntry {
    static let element = "dnsSpoof"

    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: ["name", "address", "enabled"])
        self.init(
            element["name"]?.text ?? "",
            address: element["address"]?.text ?? "",
            isEnabled: reading.flag(element, "enabled", default: true)
        )
    }

    var xml: XMLElement {
        XMLElement(
            "dnsSpoof",
            [XMLElement("name", host), XMLElement("address", address), XMLElement("enabled", isEnabled)]
        )
    }
}
