import ExchangeCore
import HTTPModel
import Rules
import Tools

/// The tools that send requests somewhere else, hold them, or slow them down.
extension CharlesConverting {
    // MARK: - Map Remote

    mutating func remoteMappings(_ rule: WrittenRule) -> [CharlesRemoteMapping] {
        if let from = rule.text("from"), TextPattern.expression(in: from) != nil {
            let why = "Charles maps locations, not regular expressions"
            report.add("map-remote \(rule.number): \(from)", .skipped(why: why))
            return []
        }
        guard let destination = destination(rule) else {
            let why = "the destination has parts of the source in it, which Charles cannot do"
            report.add(rule.words, .skipped(why: why))
            return []
        }
        return convert(rule, "from") { location, _ in
            CharlesRemoteMapping(
                from: location,
                to: destination,
                preservesHost: rule.flag("preserve-host"),
                isEnabled: rule.isEnabled
            )
        } notes: { notes in
            if rule.flag("keep-prefix") {
                notes.append("tick 'Preserve base path' in Charles 5: what that is called in its files is not known")
            }
        }
    }

    /// `nil` where it refers to what the source matched, or cannot be read.
    private func destination(_ rule: WrittenRule) -> CharlesLocation? {
        guard let to = rule["to"] else { return nil }
        func refers(_ text: String) -> Bool { text.replacing("$$", with: "").contains(/\$[0-9]/) }
        func plain(_ text: String) -> String { text.contains(/\$[0-9]/) ? text.replacing("$$", with: "$") : text }
        if let text = to.string {
            guard !refers(text), let parts = try? LocationPattern(plain(text)) else { return nil }
            // In a text a protocol without a port means its usual one; in Charles a blank port is kept.
            let port = parts.port.isEmpty ? RequestURL.defaultPort(of: parts.protocol).map(String.init) : parts.port
            var location = CharlesLocation()
            for field in LocationPattern.Field.allCases { location[field] = parts[field] }
            location.port = port ?? ""
            return location
        }
        var location = CharlesLocation()
        for field in LocationPattern.Field.allCases {
            let text = to[field.rawValue]?.string ?? ""
            if refers(text) { return nil }
            location[field] = plain(text)
        }
        return location
    }

    // MARK: - Map Local

    mutating func localMappings(_ rule: WrittenRule) -> [CharlesLocalMapping] {
        let path = ProfileText.absolute(rule.text("to") ?? "", in: rule.directory)
        return convert(rule, "from") { location, _ in
            CharlesLocalMapping(
                from: location,
                to: path.hasPrefix("/") || path.contains(":\\") ? path : ProfileText.canonical(path),
                isCaseSensitive: rule.flag("case-sensitive", default: true),
                isEnabled: rule.isEnabled
            )
        } notes: { notes in
            if let miss = rule.text("on-miss"), miss != "pass" {
                notes.append("where there is no such file, Charles asks the server")
            }
            notes += CharlesConverting.missing(["status", "headers", "index"], of: rule)
        }
    }

    // MARK: - Breakpoints and DNS Spoofing

    mutating func breakpoints(_ rule: WrittenRule) -> [CharlesBreakpoint] {
        let directions = rule["on"] == nil ? ["request", "response"] : rule.texts("on")
        let methods = rule.texts("method").isEmpty ? [""] : rule.texts("method")
        return convert(rule, "at", methods: true) { location, _ in
            methods.map {
                CharlesBreakpoint(
                    location: location,
                    method: $0,
                    onRequest: directions.contains("request"),
                    onResponse: directions.contains("response"),
                    isEnabled: rule.isEnabled
                )
            }
        } notes: { notes in
            let hasLimit = rule["after"] != nil || rule["then"] != nil
            if hasLimit { notes.append("Charles waits for a decision without end") }
        }.flatMap { $0 }
    }

    mutating func spoofs(_ rule: WrittenRule) -> [CharlesSpoof] {
        convert(rule, "host") { location, notes in
            if !location.port.isEmpty {
                notes.append("Charles does not ask for the port: it is for others than \(location.port) too")
            }
            return CharlesSpoof(host: location.host, address: rule.text("address") ?? "", isEnabled: rule.isEnabled)
        }
    }

    /// Converts a rule location by location, and reports it with notes in this order: scope, the tool's own, locations.
    private mutating func convert<Entry>(
        _ rule: WrittenRule,
        _ key: String,
        methods: Bool = false,
        _ entry: (CharlesLocation, inout [String]) -> Entry,
        notes own: (inout [String]) -> Void = { _ in }
    ) -> [Entry] {
        var notes = scopeNotes(rule, methods: methods)
        own(&notes)
        let entries = locations(rule, key, &notes).map { entry($0, &notes) }
        report.add(rule.words, notes: notes)
        return entries
    }

    private static func missing(_ keys: [String], of rule: WrittenRule) -> [String] {
        keys.filter { rule[$0] != nil }.map { "Charles has nothing like '\($0)'" }
    }

    // MARK: - Throttle

    /// Charles has one throttle: the first that is enabled, or else the first.
    mutating func throttle(_ rules: [WrittenRule], isOn: Bool) -> CharlesThrottle? {
        let position = rules.firstIndex(where: \.isEnabled) ?? 0
        var result: CharlesThrottle?
        for (index, rule) in rules.enumerated() {
            guard index == position else {
                report.add(rule.words, .skipped(why: "Charles has one throttle"))
                continue
            }
            var notes = scopeNotes(rule)
            var throttle = CharlesThrottle(values(rule, &notes))
            let hosts = rule.locations("only")
            if !hosts.isEmpty {
                throttle.usesHosts = true
                let list = hosts.map(\.description).joined(separator: ", ")
                notes.append("enter the hosts in Charles: \(list); what they look like in its files is not known")
            }
            notes += CharlesConverting.missing(["seed", "event-gap"], of: rule)
            if !isOn || !rule.isEnabled { notes.append("Charles does not store whether throttling is on") }
            result = throttle
            report.add(rule.words, notes: notes)
        }
        return result
    }

    /// The numbers, those of a preset where the rule itself has none.
    private func values(_ rule: WrittenRule, _ notes: inout [String]) -> CharlesThrottleValues {
        let name = rule.text("preset") ?? ""
        var conditions = ThrottlePreset.named(name)?.conditions ?? ThrottleConditions()
        if let preset = presets[name.lowercased()] { CharlesConverting.read(preset, into: &conditions) }
        CharlesConverting.read(rule, into: &conditions)
        var values = CharlesThrottleValues()
        if conditions.isOffline {
            notes.append("Charles has no missing network: every transmission fails in its place")
            conditions.reliability = 0
        }
        if conditions.down == nil || conditions.up == nil {
            notes.append("Charles has no unlimited bandwidth: \(Int(CharlesConverting.unlimited)) kbit/s in its place")
        }
        // Charles' fields take no 0, which in a profile means no network.
        values.down = conditions.down.flatMap { $0 == 0 ? nil : $0 } ?? CharlesConverting.unlimited
        values.up = conditions.up.flatMap { $0 == 0 ? nil : $0 } ?? CharlesConverting.unlimited
        (values.downUtilisation, values.upUtilisation) = (conditions.utilisationDown, conditions.utilisationUp)
        (values.latency, values.mtu) = (conditions.latency, Double(conditions.mtu))
        (values.reliability, values.stability) = (conditions.reliability, conditions.stability)
        (values.lowQuality, values.highQuality) = (conditions.quality.lowerBound, conditions.quality.upperBound)
        return values
    }

    /// In kbit/s; more than any preset of Charles'.
    private static let unlimited = 1_000_000.0

    private static func read(_ rule: WrittenRule, into conditions: inout ThrottleConditions) {
        var reader = ProfileReader(file: "")
        if let fields = reader.fields(rule.node, "a throttle rule", keys: Tool.throttle.allKeys) {
            conditions.read(fields, &reader)
        }
    }
}
