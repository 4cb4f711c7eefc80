import HTTPModel
import Rules
import Tools

/// Throttling: Charles has one throttle for all traffic, with one list of hosts.
extension CharlesDrafting {
    /// `startup` may say that throttling is on when Charles starts; usually not, because users switch it at run time.
    mutating func addThrottle(_ element: XMLElement, _ startup: XMLElement?) {
        tool = "Throttle"
        check(element, knows: ThrottleValues.elements.map(\.name) + ["customPresets", "hosts", "selectedHosts"])
        let values = ThrottleValues(element, &self)
        let usesHosts = flag(element, "selectedHosts", default: false)
        let places = throttledHosts(element["hosts"])
        let presets = (element["customPresets"]?.children ?? []).compactMap { preset($0) }
        add("presets", isMapping: true, presets)
        var fields = values.fields
        var notes: [String] = []
        if let name = values.presetName { fields.insert(Node.Member("name", .text(name)), at: 0) }
        if values.down == 0 || values.up == 0 { notes.append("a bandwidth of 0 is taken for no limit") }
        if usesHosts {
            let hosts = places.filter(\.isEnabled).map { $0.location.node(&notes) }
            if hosts.isEmpty {
                fields["enabled"] = .word("false")
                notes.append("it was for selected hosts only, and none was selected")
            } else {
                fields["only"] = .some(hosts)
            }
        }
        let rule = "Throttle \(GrammarValue.text(values.down))/\(GrammarValue.text(values.up)) kbit/s"
        var isEnabled = false
        if let startup, startup["throttling"] != nil {
            isEnabled = flag(startup, "throttling", default: false)
        } else {
            notes.append("the settings do not say whether throttling was on, so it is off here")
        }
        add("throttle", isEnabled: isEnabled, [ProfileDraft.Entry(rule: rule, fields: fields, notes: notes)])
    }

    /// The elements in `list` are not documented: each is a location, or has a host and a port.
    private mutating func throttledHosts(_ element: XMLElement?) -> [CharlesPlace] {
        var hosts = places(element)
        for child in element?["list"]?.children ?? [] {
            let location = child["location"] ?? child
            guard let host = location["host"]?.text, !host.trimmed.isEmpty else {
                skip(child, "no host can be found in it")
                continue
            }
            let place = CharlesLocation(host: host, port: location.text("port"))
            hosts.append(CharlesPlace(place, isEnabled: flag(child, "enabled", default: true)))
        }
        return hosts
    }

    /// Presets are not documented either: they have the numbers of the section itself, and a name beside or in them.
    private mutating func preset(_ element: XMLElement) -> ProfileDraft.Entry? {
        let values = element.children.first { $0["bandwidthDown"] != nil } ?? element
        let name = (element["string"] ?? element["name"] ?? values["name"])?.text.trimmed ?? ""
        guard values["bandwidthDown"] != nil, !name.isEmpty else {
            skip(element, "no name and bandwidth can be found in it")
            return nil
        }
        let field = Node.Member(name, .mapping(ThrottleValues(values, &self).fields))
        return ProfileDraft.Entry(rule: "Throttle preset \(name)", fields: [field])
    }
}

private struct ThrottleValues {
    /// In kbit/s, like `up`.
    var down = 0.0
    var up = 0.0
    /// In percent.
    var downUtilisation = 100.0
    var upUtilisation = 100.0
    /// The round trip in milliseconds.
    var latency = 0.0
    /// In bytes.
    var mtu = 1_500.0
    /// The probability that 10 KiB pass, in percent.
    var reliability = 100.0
    /// The share of stable time, in percent.
    var stability = 100.0
    /// The range of the quality in unstable time, in percent.
    var lowQuality = 100.0
    var highQuality = 100.0

    static var elements: [(name: String, path: WritableKeyPath<ThrottleValues, Double>)] {
        [
            ("bandwidthDown", \.down), ("bandwidthUp", \.up),
            ("utilisationDown", \.downUtilisation), ("utilisationUp", \.upUtilisation),
            ("latency", \.latency), ("reliability", \.reliability), ("mtu", \.mtu),
            ("lowQuality", \.lowQuality), ("highQuality", \.highQuality), ("stability", \.stability),
        ]
    }

    init(_ element: XMLElement, _ drafting: inout CharlesDrafting) {
        for (name, path) in ThrottleValues.elements {
            self[keyPath: path] = drafting.number(element, name, default: self[keyPath: path])
        }
    }

    var fields: [Node.Member] {
        // In a profile 0 means no network; Charles does not accept 0 in its fields, so 0 can only mean no limit.
        var fields: [Node.Member] = []
        if down > 0 { fields["down"] = .number(down) }
        if up > 0 { fields["up"] = .number(up) }
        if downUtilisation != upUtilisation {
            let both = [Node.Member("down", .number(downUtilisation)), Node.Member("up", .number(upUtilisation))]
            fields["utilisation"] = .mapping(both)
        } else if downUtilisation != 100 {
            fields["utilisation"] = .number(downUtilisation)
        }
        fields["latency"] = .number(latency)
        fields["mtu"] = .number(mtu)
        if reliability != 100 { fields["reliability"] = .number(reliability) }
        if stability != 100 {
            fields["stability"] = .number(stability)
            fields["quality"] = .list([.number(lowQuality), .number(highQuality)])
        }
        return fields
    }

    /// The name of Charles' preset with these numbers.
    var presetName: String? {
        guard reliability == 100, stability == 100 else { return nil }
        return ThrottlePreset.all.first { preset in
            let own = preset.conditions
            return (own.down, own.up, own.latency) == (down, up, .fixed(latency))
                && (own.utilisationDown, own.utilisationUp) == (downUtilisation, upUtilisation)
                && Double(own.mtu) == mtu
        }?.charlesName
    }
}
