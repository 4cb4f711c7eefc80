import Content
import HTTPModel
import Jobs
import NIOCore

/// A filter of an agent. Terms that could find out a secret by guessing are decided on the masked exchange, so that they
/// see what the agent sees.
package struct AgentFilter: Sendable {
    let whole: Filter
    /// Operands of the filter's `and` that look at nothing that masking covers.
    let open: Filter
    /// Whether all of the filter is in ``open``.
    let isOpen: Bool
    /// Whether a term reads heads or bodies.
    let readsMessages: Bool

    /// Throws like `SessionQuery.filter`, and ``ToolError`` for `label:` and `session:`.
    package init(_ text: String) throws {
        whole = try SessionQuery.filter(text)
        if whole.asksForRecording {
            throw ToolError("'label:' and 'session:' are for several recordings; this is one.")
        }
        let conjuncts = whole.conjuncts
        open = conjuncts.filter(\.isOpen).reduce(Filter.everything) { $0.and($1) }
        isOpen = conjuncts.allSatisfy(\.isOpen)
        readsMessages = whole.root.tests.contains { !$0.isOpen && $0.needs != .record }
    }

    /// Decides the filter on a masked exchange, as read from `source`.
    func holds(_ exchange: RecordedExchange, _ source: any ExchangeSource) -> Bool {
        let places = ExchangePlaces(exchange, source: source)
        return whole.root.decides { AgentFilter.holds($0, exchange, source, places) } ?? false
    }

    /// Longer bodies are searched up to here, in bytes.
    private static let longestBody = 1 << 20

    private static func holds(
        _ test: FilterTest,
        _ exchange: RecordedExchange,
        _ source: any ExchangeSource,
        _ places: ExchangePlaces
    ) -> Bool {
        switch test {
        case .place(let test):
            let values = (try? places.values(at: test.place)) ?? []
            return values.contains { $0.bytes.withUnsafeBufferPointer { test.matches($0) } }
        case .matches(.field(let side, let name), let pattern):
            let fields = sides(side).flatMap { Array(exchange.messages.fields(of: $0)) }
            return fields.contains { field in
                name.matches(field.name.lowercased())
                    && Array(field.valueBytes).withUnsafeBufferPointer { pattern.matches($0) }
            }
        case .matches(.body(let side), let pattern):
            return sides(side).contains { side in
                let body = try? source.body(of: exchange.record.id, side: side, offset: 0, limit: longestBody)
                return body.map { Array($0.readableBytesView).withUnsafeBufferPointer { pattern.matches($0) } } ?? false
            }
        case .address(let leg, let glob):
            let address = leg == .client ? exchange.record.clientAddress : exchange.record.serverAddress
            return address.map { FilterTest.matchesAddress("\($0)", glob) } ?? false
        default: return test.decides(exchange.record) ?? false
        }
    }

    private static func sides(_ side: FilterTest.Side) -> [BodySide] {
        switch side {
        case .request: [.requestReceived, .requestSent]
        case .response: [.responseReceived, .responseSent]
        case .either: [.requestReceived, .requestSent, .responseReceived, .responseSent]
        }
    }
}

extension Filter {
    fileprivate var isOpen: Bool { root.tests.allSatisfy(\.isOpen) }
}

extension FilterTest {
    /// Whether the test looks at nothing that masking may cover.
    fileprivate var isOpen: Bool {
        switch self {
        case .matches(.text(let field), _): ![.path, .query, .comment, .colour].contains(field)
        case .matches: false
        case .place(let test): [.method, .status, .host].contains(test.place.part)
        default: true
        }
    }
}
