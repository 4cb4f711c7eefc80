import CGuide

/// A page of the guide: a Markdown file in the catalogue of the module that it is about.
package struct GuidePage: Sendable {
    /// What it is among others, such as `Tools`.
    package let group: String
    /// Its file's name without the ending, by which it is asked for.
    package let topic: String
    package let title: String
    /// The first paragraph, one sentence.
    package let abstract: String
    /// Its text, with the tables of the program in their places.
    package let markdown: String
    /// What follows the title.
    package let blocks: [GuideBlock]
    /// The text as its file has it.
    private let text: String

    /// Reads a page; `table` gives the Markdown of a table that the program knows, for `<!-- table: NAME -->`.
    package init(group: String, topic: String, text: String, table: (String) -> String? = { _ in nil }) {
        self.text = text
        markdown = GuidePage.filled(text, table)
        var blocks = GuideBlock.read(markdown)
        var title = topic
        if case .heading(1, let runs) = blocks.first {
            title = runs.text
            blocks.removeFirst()
        }
        (self.group, self.topic, self.title) = (group, topic, title)
        abstract = blocks.lazy.compactMap { if case .paragraph(let runs) = $0 { runs.text } else { nil } }.first ?? ""
        self.blocks = blocks
    }

    /// The page with the tables of the program.
    func filled(_ table: (String) -> String?) -> GuidePage {
        GuidePage(group: group, topic: topic, text: text, table: table)
    }

    /// A table that is not known is left out.
    private static func filled(_ text: String, _ table: (String) -> String?) -> String {
        let (begin, end) = ("<!-- table: ", " -->")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            guard line.hasPrefix(begin), line.hasSuffix(end) else { return String(line) }
            return table(String(line.dropFirst(begin.count).dropLast(end.count))) ?? ""
        }.joined(separator: "\n")
    }
}

/// All pages, in the order in which they are read.
package struct Guide: Sendable {
    /// Without the tables of the program, which are made for the page that is read.
    package let pages: [GuidePage]
    private let table: @Sendable (String) -> String?

    init(pages: [GuidePage]) { (self.pages, table) = (pages, { _ in nil }) }

    /// The pages that the program has within; `table` as in ``GuidePage``.
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

    /// The topics of all pages, of which none is read.
    package static var topics: [String] {
        var topics: [String] = []
        while let page = sluice_page_at(topics.count)?.pointee { topics.append(String(cString: page.topic)) }
        return topics
    }

    /// With the tables of the program in their places.
    package var filledPages: [GuidePage] { pages.map { $0.filled(table) } }

    package enum Match: Sendable {
        case page(GuidePage)
        /// Topics that the word may stand for; none where there is nothing near.
        case several([String])
    }

    /// The page of a topic, or of the only topic that begins so or has the word in it.
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

    /// A place at which all words of a search stand.
    package struct Place: Sendable, Hashable {
        package let topic: String
        /// The heading above it; empty where there is none.
        package let section: String
        package let line: String
    }

    /// The lines in which all words stand, whatever their case; of titles and headings too.
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
