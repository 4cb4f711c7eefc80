extension CharlesThrottle {
    private static let ignored = ["customPresets", "hosts", "selectedHosts"]

    init(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: CharlesThrottleValues.elements.map(\.name) + CharlesThrottle.ignored)
        self.init(CharlesThrottleValues(element, &reading))
        usesHosts = reading.flag(element, "selectedHosts", default: false)
        if let list = element["hosts"] {
            hosts = reading.places(list)
            for child in list["list"]?.children ?? [] { readHost(child, &reading) }
        }
        for child in element["customPresets"]?.children ?? [] { readPreset(child, &reading) }
    }

    /// The shape of these entries is not documented: a location, or something that has a host and a port.
    private mutating func readHost(_ element: XMLElement, _ reading: inout CharlesReading) {
        let location = element["location"] ?? element
        guard let host = location["host"]?.text, !host.trimmed.isEmpty else {
            reading.skip(element, "no host can be found in it")
            return
        }
        let place = CharlesLocation(host: host, port: location["port"]?.text ?? "")
        hosts.append(CharlesPlace(place, isEnabled: reading.flag(element, "enabled", default: true)))
    }

    /// Not documented either: numbers as in the section itself, with a name beside them or in them.
    private mutating func readPreset(_ element: XMLElement, _ reading: inout CharlesReading) {
        let values = element.children.first { $0["bandwidthDown"] != nil } ?? element
        let name = (element["string"] ?? element["name"] ?? values["name"])?.text.trimmed ?? ""
        guard values["bandwidthDown"] != nil, !name.isEmpty else {
            reading.skip(element, "no name and bandwidth can be found in it")
            return
        }
        presets.append(CharlesPreset(name: name, values: CharlesThrottleValues(values, &reading)))
    }
}

extension CharlesThrottleValues {
    static var elements: [(name: String, path: WritableKeyPath<CharlesThrottleValues, Double>)] {
        [
            ("bandwidthDown", \.down), ("bandwidthUp", \.up),
            ("utilisationDown", \.downUtilisation), ("utilisationUp", \.upUtilisation),
            ("latency", \.latency), ("reliability", \.reliability), ("mtu", \.mtu),
            ("lowQuality", \.lowQuality), ("highQuality", \.highQuality), ("stability", \.stability),
        ]
    }

    init(_ element: XMLElement, _ reading: inout CharlesReading) {
        self.init()
        for (name, path) in CharlesThrottleValues.elements {
            self[keyPath: path] = reading.number(element, name, default: self[keyPath: path])
        }
    }
}
