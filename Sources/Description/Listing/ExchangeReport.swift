package import Content
package import HTTPModel

/// Everything about one exchange as plain text: what `sluice show` prints.
package enum ExchangeReport {
    private static let width = 100

    /// Errors become lines. `bodyLimit` is for each body; the other parameters are those of ``DetailBuilder``.
    package static func text(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        bodyLimit: Int = 64 * 1024,
        descriptors: DescriptorSet? = nil,
        change: @escaping (_ stage: String) -> TraceEntry.Change? = { _ in nil }
    ) -> String {
        let builder = DetailBuilder(exchange, source: source, descriptors: descriptors, change: change)
        var options = DetailOptions()
        options.isPrinted = true
        options.bodyLimit = bodyLimit
        options.width = width
        options.hasBars = false
        options.showsPreview = false
        var lines: [String] = []
        let (messages, flags) = (exchange.messages, exchange.record.flags)
        let parts: [(page: DetailPage, hasSent: Bool)] = [
            (.overview, false),
            (.request, messages.requestHeadSent != nil || flags.contains(.requestBodyChanged)),
            (.response, messages.responseHeadSent != nil || flags.contains(.responseBodyChanged)), (.messages, false),
        ]
        for (page, hasSent) in parts where builder.pages.contains(page) {
            for version in hasSent ? MessageVersion.allCases : [.received] {
                (options.page, options.version) = (page, version)
                // A printed report must be complete, so its budget is a day.
                let document = builder.document(options, DetailBudget(.seconds(86_400)))
                if !lines.isEmpty, !document.lines.isEmpty { lines.append("") }
                lines += document.lines.map(\.plain)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
