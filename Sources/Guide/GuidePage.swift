import CGuide

/// A Markdown page in the catalogue of the module that it is about.
package struct GuidePage: Sendable {
    /// For example `Tools`.
    package let group: String
    /// The file's name without its ending.
    package let topic: String
    package let title: String
    /// The first paragraph, one sentence.
    package let abstract: String
    /// With the program's tables filled in.
    package let markdown: String
    /// Without the title.
    package let blocks: [GuideBlock]
    private let text: String

    /// `table` returns the Markdown for `<!-- table: NAME -->`.
    package init(group: String, topic: String, text: String, table: (String) -> String? = { _ in nil }) {
        self.text = text
        markdown = GuidePage.filled(text, table)
        var blocks = GuideBlock.read(markdown)
        var title = topic
        if case .heading(1, let runs) = blocks.first {
            title = runs.text
            blocks.removeFirst()
        }
        self.group = group
        self.topic = topic
        self.title = title
        abstract = blocks.lazy.compactMap { if case .paragraph(let runs) = $0 { runs.text } else { nil } }.first ?? ""
        self.blocks = blocks
    }

    func filled(_ table: (String) -> String?) -> GuidePage {
        GuidePage(group: group, topic: topic, text: text, table: table)
    }

    /// Unknown tables are left out.
    private static func filled(_ text: String, _ table: (String) -> String?) -> String {
        let (begin, end) = ("<!-- table: ", " -->")
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix(begin), line.hasSuffix(end) else { return String(line) }
            return table(String(line.dropFirst(begin.count).dropLast(end.count))) ?? ""
        }.joined(separator: "\n")
    }
}

/// The pages of the guide, in reading order.
package struct Guide: Sendable {
    /// Pages without tables; the tables are filled in when a page is read.
    package let pages: [GuidePage]
    private let table: @Sendable (String) -> String?

    init(pages: [GuidePage]) { (self.pages, table) = (pages, { _ in nil }) }

    /// The built-in pages.
    package init(table: @escaping @Sendable (String) -> String? = { _ in nil }) {
        var pages: [GuidePage] = []
        while let page = sluice_page_at(pages.count)?.pointee {
            pages.append(
                GuidePage(
                    group: String(cString: page.group),
                    topic: String(cString: page.topic),
                    text: String(decoding: UnsafeBufferPointer(start: page.text, count: page.size), as: UTF8.self)
                )
            )
        }
        (self.pages, self.table) = (pages, table)
    }

    package static var topics: [String] {
        var topics: [String] = []
        while let page = sluice_page_at(topics.count)?.pointee { topics.append(String(cString: page.topic)) }
        return topics
    }

    package var filledPages: [GuidePage] { pages.map { $0.filled(table) } }

    package enum Match: Sendable {
        case page(GuidePage)
        /// May be empty.
        case several([String])
    }

    /// Finds a page by its topic or title, or by a beginning or part of a topic if only one page matches.
    package func find(_ word: String) -> Match {
        let word = word.lowercased()
        if let page = pages.first(where: { $0.topic == word || $0.title.lowercased() == word }) {
            return .page(page.filled(table))
        }
        for fits in [{ (topic: String) in topic.hasPrefix(word) }, { $0.contains(word) }] {
            let near = pages.filter { fits($0.topic) }
            if near.count == 1 { return .page(near[0].filled(table)) }
            if !near.isEmpty { return .several(near.map(\.topic)) }
        }
        return .several([])
    }

    /// A line with all words of a search.
    package struct Place: Sendable, Hashable {
        package let topic: String
        /// The heading above the line; may be empty.
        package let section: String
        package let line: String
    }

    /// Finds lines with all words, in any case.
    package func search(_ words: [String]) -> [Place] {
        let words = words.flatMap { $0.lowercased().split(separator: " ") }
        guard !words.isEmpty else { return [] }
        return filledPages.flatMap { page in
            var section = ""
            var places: [Place] = []
            for block in [.heading(1, [GuideRun(page.title)])] + page.blocks {
                if case .heading(let level, let runs) = block, level > 1 { section = runs.text }
                for line in block.lines {
                    let text = line.lowercased()
                    guard words.allSatisfy({ text.contains($0) }) else { continue }
                    places.append(Place(topic: page.topic, section: section, line: line))
                }
            }
            return places
        }
    }
}
