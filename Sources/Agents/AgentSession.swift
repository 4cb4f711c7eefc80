import Content
import Description
import Files
import Formats
import HTTPModel
import Jobs
import Masking
import NIOCore
import Recording
import Rules
import Runner
import Store
import Text
import Tools

/// A session as an agent reads it: always masked. Equal secrets have equal placeholders as long as the server runs.
package actor AgentSession {
    /// How many exchanges a call masks to decide a filter: with their messages, or the URL alone.
    static let (mostMasked, mostURLs) = (1_000, 20_000)

    package let path: String
    let reader: SessionReader
    /// Those that the session was recorded with.
    let maskRules: MaskRules
    private let mask: TextMask
    private let source: MaskedSource

    /// Throws like `SessionQuery.open`.
    package init(_ session: String) throws {
        path = try SessionQuery.path(session)
        reader = try SessionQuery.open(session)
        maskRules = try SessionMask.rules(of: reader)
        mask = TextMask(maskRules, label: LabelKey().label)
        source = MaskedSource(reader, mask)
        for text in try reader.rules().flatMap(\.sources).map(\.text) { source.collect(rules: text) }
    }

    // MARK: Reading masked

    func summary() throws -> (exchanges: Int64, newest: Int64) {
        (try reader.summary().exchanges, try reader.bounds()?.upperBound ?? 0)
    }

    /// An exchange without its secrets. Throws ``ToolError`` if it is not there.
    private func masked(_ number: Int64) throws -> RecordedExchange {
        guard let exchange = try reader.exchange(ExchangeID(number)) else {
            throw ToolError("The session has no exchange \(number); 'list' has those that there are.")
        }
        return try masked(exchange)
    }

    /// All parts are read first, as a secret may be found in a later part than that which has it, too.
    private func masked(_ exchange: RecordedExchange) throws -> RecordedExchange {
        mask.boundWhatIsSought()
        try source.collectForNotice(exchange)
        return source.masked(exchange)
    }

    /// A text made of a masked exchange, searched again for secrets that lost their names on the way.
    func masked(text: String) -> String { source.masked(text: text) }

    /// A held message's head and body.
    func masked(shown texts: [String]) -> [String] {
        for text in texts { source.collect(shown: text) }
        return texts.map { source.masked(shown: $0) }
    }

    // MARK: Filters

    /// The exchanges before a number, or after one, that fit a filter: at most `limit`, and where a further call has to
    /// go on if there may be more.
    func find(
        _ filter: AgentFilter,
        before: Int64? = nil,
        after: Int64? = nil,
        limit: Int,
        isOldestFirst: Bool = false
    ) throws -> (found: [RecordedExchange], next: Int64?, looked: Int) {
        guard let bounds = try reader.bounds() else { return ([], nil, 0) }
        let lower = max(bounds.lowerBound, after.map { $0 + 1 } ?? bounds.lowerBound)
        let upper = min(bounds.upperBound, before.map { $0 - 1 } ?? bounds.upperBound)
        guard lower <= upper else { return ([], nil, 0) }
        let most = filter.isOpen ? limit + 1 : filter.readsMessages ? Self.mostMasked : Self.mostURLs
        let candidates = try reader.numbers(
            of: .range(lower...upper),
            matching: filter.open,
            isDescending: !isOldestFirst,
            limit: most
        )
        var found: [RecordedExchange] = []
        for (index, number) in candidates.enumerated() {
            try Task.checkCancellation()
            guard found.count < limit else { return (found, isOldestFirst ? number - 1 : number + 1, index) }
            guard let exchange = try reader.exchange(ExchangeID(number)) else { continue }
            if filter.isOpen {
                found.append(try headsMasked(exchange))
            } else {
                let masked = try filter.readsMessages ? masked(exchange) : headsMasked(exchange)
                if filter.holds(masked, source) { found.append(masked) }
            }
        }
        let last = candidates.last.flatMap { candidates.count == most ? $0 : nil }
        return (found, last, candidates.count)
    }

    /// With the secrets of heads and URL masked, without reading bodies.
    private func headsMasked(_ exchange: RecordedExchange) throws -> RecordedExchange {
        mask.boundWhatIsSought()
        _ = source.masked(exchange)
        return source.masked(exchange)
    }

    // MARK: What tools print

    /// The report of an exchange.
    func report(_ number: Int64) throws -> String {
        let exchange = try masked(number)
        let text = ExchangeReport.text(exchange, source: source) { ToolRegistry.standard[key: $0]?.change }
        return masked(text: text)
    }

    /// The values at a place, a line each.
    func values(_ number: Int64, at place: Place) throws -> String {
        let places = ExchangePlaces(try masked(number), source: source)
        let values = try places.values(at: place)
        guard !values.isEmpty else {
            throw ToolError(
                "Exchange \(number) has no \(place)\(places.problem == nil ? "" : ": its body cannot be read so")."
            )
        }
        return masked(text: values.map(\.text).joined(separator: "\n"))
    }

    /// What each rule did to an exchange, or why not.
    func why(_ number: Int64) throws -> String {
        _ = try masked(number)
        return masked(text: try RecordedWhy.text(reader, named: path, id: number))
    }

    func difference(_ first: Int64, _ second: Int64) throws -> (text: String, isSame: Bool) {
        // Both are read before the first is masked for good, as either may name a secret of the other.
        _ = (try masked(first), try masked(second))
        let others = MaskedSource(reader, mask)
        let sides = try [(first, source), (second, others)].map { number, source in
            guard let exchange = try source.exchange(ExchangeID(number)) else {
                throw ToolError("The session has no exchange \(number).")
            }
            return ExchangeDifference.Side(exchange, source)
        }
        let settings = ComparisonSettings(ignoring: [], isExact: false, responses: .sent)
        let (text, isSame) = try DifferenceReport(settings).text(sides[0], sides[1])
        return (masked(text: text), isSame)
    }

    /// Counts by host and endpoint. Throws ``ToolError`` if the filter has terms that masking covers.
    func statistics(_ filter: AgentFilter, by grouping: StatisticsReport.Grouping?) throws -> String {
        guard filter.isOpen else {
            throw ToolError("'stats' takes terms such as host, method, status, size and time; 'list' takes all.")
        }
        let statistics = try reader.statistics(matching: filter.open, countsEndpoints: grouping != .host) { _, _ in
            try Task.checkCancellation()
        }
        return masked(text: StatisticsReport(statistics, by: grouping).text())
    }

    /// What rules would do to recorded exchanges, found by a dry run on the masked ones.
    func play(_ profile: RuleProfile, on exchanges: [RecordedExchange]) throws -> [(ExchangeID, DryRunExchange)] {
        var dryRun = DryRun(profile)
        return try exchanges.map { exchange in
            try Task.checkCancellation()
            let exchange = try masked(exchange.record.id.number)
            let (request, response) = try RecordedWhy.messages(exchange, source)
            return (exchange.record.id, dryRun.play(request, response ?? .init()))
        }
    }

    /// Writes an export of exchanges, masked, to a new file; returns their count.
    func export(_ numbers: [Int64], _ format: ExportFormat, to path: String) throws -> Int {
        for number in numbers { _ = try masked(number) }
        let pipeline = ExportPipeline(
            reader,
            threads: 1,
            onProgress: { _ in try Task.checkCancellation() },
            numbers: { try $0(numbers) }
        )
        let masked = MaskedSource(pipeline.pages, mask)
        let file = try OutputFile(path, isSecret: true)
        var export = try format.export(masked, of: reader, to: ExportDestination(file, path: path))
        let count = try SessionMask.write(&export, masked, pipeline)
        try file.finish()
        return count
    }

    /// The first exchange after a number that has ended and fits a filter. Without one, the number after which a
    /// further call has to look: exchanges in flight may fit later. `isAtEnd` says whether all were looked at.
    func next(
        _ filter: AgentFilter,
        after: Int64
    ) throws -> (found: ExchangeRecord?, after: Int64, isAtEnd: Bool) {
        let newest = try reader.bounds()?.upperBound ?? after
        let (found, next, _) = try find(filter, after: after, limit: 20, isOldestFirst: true)
        if let ended = found.first(where: { $0.record.state != .inFlight }) { return (ended.record, after, true) }
        let inFlight = try reader.numbersInFlight().filter { $0 > after }.min() ?? .max
        return (nil, max(after, min(next ?? newest, inFlight - 1)), next == nil)
    }

    // MARK: Unmasked, for sending

    /// A recorded request, to send it again.
    func recorded(_ number: Int64, longestBody: Int) throws -> (RecordedExchange, ByteBuffer) {
        guard let exchange = try reader.exchange(ExchangeID(number)) else {
            throw ToolError("The session has no exchange \(number).")
        }
        let body = try reader.body(of: exchange.record.id, side: .requestReceived, limit: longestBody + 1)
        guard body.readableBytes <= longestBody else { throw ToolError("The request's body is longer than 16 MiB.") }
        return (exchange, body)
    }
}
