import HTTPModel
import Masking
import Recording
import Sharing

/// Which exchanges that an export does not write are read for secrets: a value may stand in what is exported, and only
/// another exchange has the name that says what it is.
package struct OtherExchanges: Sendable, Hashable {
    /// As many are read with their bodies: those before the last one of the export first.
    let most: Int64
    /// As many bytes of bodies are read.
    let bodyBytes: Int64
    /// Of an exchange with more bytes of bodies they are not read.
    let longestBody: Int64
    /// Whether the URLs and heads of all others are read.
    let readsAllHeads: Bool

    /// For exports, which may take a while.
    package static let ofSession = OtherExchanges(
        most: 100_000,
        bodyBytes: 256 << 20,
        longestBody: 1 << 20,
        readsAllHeads: true
    )
    /// For what is there at once, such as copies: those that came shortly before.
    package static let near = OtherExchanges(
        most: 1_000,
        bodyBytes: 4 << 20,
        longestBody: 256 << 10,
        readsAllHeads: false
    )

    func collect(_ chosen: ExchangeNumbers, _ pipeline: ExportPipeline, _ masked: MaskedSource) throws {
        guard let last = chosen.ranges.last?.upperBound, let bounds = try pipeline.reader.bounds() else { return }
        let whole = try pipeline.reader.range(
            around: last,
            most: most,
            bodyBytes: bodyBytes,
            longestBody: longestBody
        )
        masked.mask.beginOthers()
        let others = pipeline.others(than: chosen, in: readsAllHeads ? bounds : whole)
        try SessionMask.collect(others, masked) { pages, numbers in
            // A page has numbers of both kinds at most twice.
            let isWhole = numbers.first.map(whole.contains) ?? false
            var part = numbers.prefix { whole.contains($0) == isWhole }
            let count = part.count
            defer { numbers = numbers.dropFirst(count - part.count) }
            return isWhole ? try pages.read(&part) : try pages.readHeads(&part)
        } by: { [longestBody] source, exchange in
            let size = exchange.record.sizes.bodies
            if whole.contains(exchange.record.id.number), size <= longestBody { return try source.collectAll(exchange) }
            source.collectHeads(exchange)
            if size > 0 { source.mask.add(unread: 1) }
        }
    }
}

/// The numbers of the exchanges of an export, as they are gone through.
final class ChosenNumbers {
    private var ranges: [ClosedRange<Int64>] = []

    var numbers: ExchangeNumbers { ExchangeNumbers(ranges: ranges) }

    func add(_ numbers: [Int64]) {
        for number in numbers {
            if let last = ranges.last, last.upperBound < number, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
    }
}
