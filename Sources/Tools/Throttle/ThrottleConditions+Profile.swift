import ExchangeCore
package import Rules

extension ThrottleConditions {
    private static let bandwidth = GrammarValue.number(0...10_000_000, unit: "kbit/s")
    private static let percent = GrammarValue.number(1...100, unit: "%")

    private static let utilisationKeys = [
        GrammarKey("down", percent, example: "70", fallback: "100").means("Of the bandwidth to the client."),
        GrammarKey("up", percent, example: "90", fallback: "100").means("Of the bandwidth to the server."),
    ]

    /// The keys of a rule and of a preset.
    static let keys: [GrammarKey] = [
        GrammarKey("down", bandwidth, example: "1600", fallback: "no limit").means(
            "Bandwidth to the client, heads and bodies, shared by all that the rule is for; 0 means no network."
        ),
        GrammarKey("up", bandwidth, example: "768", fallback: "no limit").means(
            "Bandwidth to the server, heads and bodies, shared by all that the rule is for; 0 means no network."
        ),
        GrammarKey(
            "utilisation",
            .either(percent, .mapping(utilisationKeys)),
            example: "{ down: 70, up: 90 }",
            fallback: "100"
        ).means("How much of the bandwidth there is to be had: one number for both directions, or one for each."),
        GrammarKey("latency", .number(0...600_000, unit: "ms"), example: "300", fallback: "0")
            .means("The round trip: every request waits so long before it goes on, on reused connections too."),
        GrammarKey("mtu", .number(1...65_535, unit: "bytes"), example: "576", fallback: "1500")
            .means("Bytes are handed out in multiples of this; it does not change the bandwidth."),
        GrammarKey("reliability", .number(0...100, unit: "%"), example: "98", fallback: "100").means(
            "How probably 10 KiB pass without the connection failing, in each direction; 20 KiB at 50 % pass at 25 %."
        ),
        GrammarKey("stability", .number(0...100, unit: "%"), example: "90", fallback: "100")
            .means("How probably the connection is stable in a given second; 100 is always."),
        GrammarKey("quality", .list(.number(0...100, unit: "%")), example: "[20, 60]", fallback: "[100, 100]")
            .means("The range from which the share of the bandwidth is drawn for each second that is not stable."),
        GrammarKey("event-gap", .duration, example: "200ms", fallback: "none")
            .means("The least time between two server-sent events (text/event-stream without content coding)."),
    ]

    /// Applies the fields that are there.
    package mutating func read(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        if let number = reader.number(fields, "down") { down = number }
        if let number = reader.number(fields, "up") { up = number }
        if let node = fields["utilisation"] { readUtilisation(node, &reader) }
        if let number = reader.number(fields, "latency") { latency = number }
        if let number = reader.number(fields, "mtu") { mtu = Int(number) }
        if let number = reader.number(fields, "reliability") { reliability = number }
        if let number = reader.number(fields, "stability") { stability = number }
        if let node = fields["quality"] { readQuality(node, &reader) }
        if let node = fields["event-gap"], let time = reader.duration(node, "event-gap") { eventGap = time }
        if let node = fields["stability"], stability < 100, fields["quality"] == nil, quality == 100...100 {
            reader.lint("without 'quality' an unstable connection is as good as a stable one", at: node)
        }
        if let node = fields["quality"], stability == 100 {
            reader.lint("'quality' counts in seconds that are not stable, and 'stability' is 100", at: node)
        }
    }

    private mutating func readUtilisation(_ node: Node, _ reader: inout ProfileReader) {
        guard node.mapping != nil else {
            if let number = reader.number(node, "utilisation", 1...100, "%") {
                (utilisationDown, utilisationUp) = (number, number)
            }
            return
        }
        guard let fields = reader.fields(node, "utilisation", keys: ThrottleConditions.utilisationKeys) else { return }
        if let number = reader.number(fields, "down") { utilisationDown = number }
        if let number = reader.number(fields, "up") { utilisationUp = number }
    }

    private mutating func readQuality(_ node: Node, _ reader: inout ProfileReader) {
        let numbers = node.members.compactMap { reader.number($0, "quality", 0...100, "%") }
        guard numbers.count == node.members.count else { return }
        guard (1...2).contains(numbers.count), let low = numbers.first, let high = numbers.last, low <= high else {
            reader.error("quality takes the lowest and the highest value, as in [20, 60]", at: node)
            return
        }
        quality = low...high
    }
}
