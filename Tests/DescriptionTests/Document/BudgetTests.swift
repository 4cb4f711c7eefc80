import Content
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@testable import Description

/// Counts how often it is asked.
private final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

@Suite("What a page may cost")
struct BudgetTests {
    private static let longLines = (0..<1_000).map { "line \($0)\n" }.joined()

    private func document(_ budget: DetailBudget, _ body: String = longLines) -> DetailDocument {
        let source = BodySource()
        source.set(.responseReceived, body.utf8)
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        return DetailBuilder(exchange, source: source).document(DetailOptions(page: .response), budget)
    }

    @Test("A page that takes too long is shown as far as it has come, and says so")
    func spent() {
        let asked = Counter()
        let late = document(DetailBudget { asked.next() > 3 })
        #expect(!late.isWhole)
        #expect(late.lines.count < 300)
        #expect(
            late.lines.last?.plain == "Not all is shown, as it takes too long; the command save-body writes it whole."
        )
        #expect(document(DetailBudget()).isWhole)
    }

    @Test("Bodies are not read once the time is over")
    func source() {
        let lines = document(DetailBudget(.zero)).lines.map(\.plain)
        #expect(lines.contains { $0.contains("The body cannot be read: it takes too long") })
    }

    @Test("No preview is drawn once the time is over")
    func image() {
        let source = BodySource()
        source.set(.responseReceived, ImageTests.fourColours)
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        let asked = Counter()
        // The body is read before.
        let document = DetailBuilder(exchange, source: source)
            .document(DetailOptions(page: .response), DetailBudget { asked.next() > 3 })
        #expect(document.lines.contains { $0.plain.contains("(no preview: it takes too long)") })
    }
}
