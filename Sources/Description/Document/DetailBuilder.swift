package import Content
package import HTTPModel

/// Makes the documents about an exchange for the console and `sluice show`, in bounded time. Errors become lines.
package struct DetailBuilder {
    let exchange: RecordedExchange
    let source: any ExchangeSource
    let now: Int64?
    let descriptors: DescriptorSet?
    let change: (String) -> TraceEntry.Change?

    /// `now` is in microseconds since 1970, for exchanges in flight. Without `descriptors` the fields of gRPC messages
    /// have numbers. `change` returns what the rules of a stage change although their trace does not name it.
    package init(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        now: Int64? = nil,
        descriptors: DescriptorSet? = nil,
        change: @escaping (_ stage: String) -> TraceEntry.Change? = { _ in nil }
    ) {
        self.change = change
        self.descriptors = descriptors
        self.exchange = exchange
        self.source = source
        self.now = now
    }

    /// The pages that the exchange has: messages only for streams, differences only if a rule changed something.
    package var pages: [DetailPage] {
        DetailPage.allCases.filter { page in
            switch page {
            case .overview: true
            case .request: exchange.messages.requestHead != nil
            case .response: exchange.messages.responseHead != nil
            case .messages: isStream
            case .difference: isChanged
            }
        }
    }

    /// The document of a page, as far as the budget allows; if no page was chosen, of the most informative one.
    package func document(_ options: DetailOptions, _ budget: DetailBudget = DetailBudget()) -> DetailDocument {
        if let text = options.bodyText, let hit = hit(text, options, budget) { return hit }
        var options = options
        if !options.isPageChosen {
            options.page = .best(of: pages)
        } else if options.prefersMessages, options.page.counterpart != nil, hasFrames {
            options.page = .messages
        }
        return page(options, budget)
    }

    /// The document to show beside a page; `nil` if the page is shown alone.
    package func beside(_ page: DetailPage?, _ options: DetailOptions, _ budget: DetailBudget) -> DetailDocument? {
        guard options.besideWidth != nil, let other = page?.counterpart, pages.contains(other) else { return nil }
        var options = options
        (options.page, options.bodyText) = (other, nil)
        return self.page(options, budget)
    }

    /// The page that shows a text of a body, in the requested form or, if the text is not in that form, in another one.
    private func hit(_ text: String, _ options: DetailOptions, _ budget: DetailBudget) -> DetailDocument? {
        let pages = pages
        let first = [options.page].filter { options.isPageChosen && $0 != .overview && pages.contains($0) }
        for page in first + [.messages, .response, .request] where pages.contains(page) {
            for form in options.bodyForm == .pretty ? [.pretty, .raw] : [options.bodyForm, .pretty, .raw] {
                if form != options.bodyForm, page == .messages { continue }
                var options = options
                (options.page, options.bodyForm) = (page, form)
                let document = self.page(options, budget)
                if document.bodyLines.contains(where: { $0.plain.lowercased().contains(text.lowercased()) }) {
                    return document
                }
            }
        }
        return nil
    }

    private func page(_ options: DetailOptions, _ budget: DetailBudget) -> DetailDocument {
        var options = options
        if let width = options.besideWidth, let other = options.page.counterpart, pages.contains(other) {
            options.width = width
        }
        var writer = DetailWriter(options, budget, now: now ?? exchange.record.startedAt)
        let source = BudgetedSource(source: source, budget: budget)
        let labels = RuleLabels(exchange.messages.trace, change: change)
        switch options.page {
        case .overview: OverviewPage(exchange: exchange, source: source, now: now).write(into: &writer)
        case .request, .response:
            let isRequest = options.page == .request
            MessagePage(exchange: exchange, source: source, isRequest: isRequest, labels: labels, isLive: now != nil)
                .write(into: &writer)
        case .messages: StreamPage(exchange: exchange, source: source, descriptors: descriptors).write(into: &writer)
        case .difference:
            DifferencePage(exchange: exchange, labels: labels) {
                LoadedBody(exchange, $0, source: source, limit: options.bodyLimit)
            }.write(into: &writer)
        }
        var document = writer.document()
        document.isUnfinished = exchange.record.state == .inFlight
        return document
    }

    /// Whether a rule changed the exchange, apart from the changes that every proxy makes.
    package var isChanged: Bool {
        let flags: ExchangeRecord.Flags = [
            .requestChanged, .responseChanged, .requestBodyChanged, .responseBodyChanged,
        ]
        return !exchange.record.flags.isDisjoint(with: flags) || exchange.record.sentURL != nil
    }

    /// Whether the bodies are frames that hold messages.
    private var hasFrames: Bool {
        let record = exchange.record
        return record.kind == .webSocket || record.grpc != nil || record.flags.contains(.grpc)
    }

    private var isStream: Bool {
        let record = exchange.record
        if hasFrames { return true }
        guard record.kind == .http else { return false }
        return [BodySide.requestReceived, .responseReceived].contains { side in
            let type = exchange.messages.fields(of: side).value(of: .contentType).flatMap { MediaType($0) }
            return type.flatMap { StreamCounter.Format(mediaType: $0.essence) } != nil
        }
    }
}
