import Foundation
import Support
import Testing

@testable import Guide

@Suite("The guide")
struct GuideTests {
    private let guide = Guide()

    @Test("The program has the pages that the catalogues have")
    func pages() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var topics: [String] = []
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        )
        where file.path().contains(".docc/Guide/") && file.pathExtension == "md" {
            topics.append(file.deletingPathExtension().lastPathComponent)
        }
        #expect(topics.sorted() == guide.pages.map(\.topic).sorted(), "run .ci/guide")
    }

    @Test("Every page has a title, a sentence on what it is about, and links that lead to pages")
    func form() throws {
        #expect(Set(guide.pages.map(\.title)).count == guide.pages.count)
        for page in guide.pages {
            #expect(page.title != page.topic, "\(page.topic) has no title")
            #expect(page.abstract.hasSuffix("."), "\(page.topic): \(page.abstract)")
            #expect(page.abstract.count < 200, "\(page.topic): the first paragraph is one sentence")
            for line in page.blocks.flatMap(\.lines) {
                for link in line.matches(of: /sluice guide ([a-z][a-z0-9-]*)/) {
                    #expect(guide.pages.contains { $0.topic == link.1 }, "\(page.topic) leads to \(link.1)")
                }
                #expect(!line.contains("<doc:"), "\(page.topic): \(line)")
            }
        }
    }

    @Test("A beginning is enough for a topic, and where it fits several they are named")
    func find() throws {
        let pages = ["map-local", "map-remote", "trust"].map {
            GuidePage(group: "", topic: $0, text: "# The \($0)\n\nA.")
        }
        let guide = Guide(pages: pages)
        func topic(_ word: String) -> String {
            switch guide.find(word) {
            case .page(let page): page.topic
            case .several(let topics): topics.joined(separator: "|")
            }
        }
        #expect(topic("Trust") == "trust")
        #expect(topic("the trust") == "trust")
        #expect(topic("map-l") == "map-local")
        #expect(topic("remote") == "map-remote")
        #expect(topic("map") == "map-local|map-remote")
        #expect(topic("none") == "")
    }

    @Test("No line of a manual page is a macro of roff because of its first character")
    func manual() {
        let page = GuidePage(group: "", topic: "t", text: "# T\n\n.har files.\n\n```\n.profile\n'quoted'\n```")
        let text = ManPage(page, version: "1").text
        #expect(text.contains("\n\\&.har files.\n"), "\(text)")
        #expect(text.contains("\n\\&.profile\n\\(aqquoted\\(aq\n"), "\(text)")
    }

    @Test("A search finds the lines that have all words, with their section")
    func search() {
        let text = "# Title\n\nAn Apple.\n\n## Part\n\n- apple and pear\n\n| a | b |\n| --- | --- |\n| pear | Apple |"
        let guide = Guide(pages: [GuidePage(group: "", topic: "t", text: text)])
        #expect(guide.search(["apple"]).map(\.section) == ["", "Part", "Part"])
        #expect(guide.search(["pear apple"]).map(\.line) == ["apple and pear", "pear  Apple"])
        #expect(guide.search(["title"]).map(\.line) == ["Title"])
        #expect(guide.search([" "]) == [])
    }
}
