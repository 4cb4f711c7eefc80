import Foundation
import Guide
import HTTPModel
import Support
import Testing

@Suite("The guide's page on places")
struct PlacesPageTests {
    /// The code in the first cells of the tables below a heading.
    private func code(below heading: String) throws -> [String] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Recording/Recording.docc/Guide/places.md")
        let page = try String(contentsOf: sources, encoding: .utf8)
        let start = try #require(page.range(of: heading)?.upperBound)
        let end = page[start...].range(of: "\n## ")?.lowerBound ?? page.endIndex
        let lines = page[start..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }
        return lines.flatMap { line -> [String] in
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            return cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
    }

    @Test("Each part in its table is a place and is printed as it is written")
    func parts() throws {
        let parts = try code(below: "# Places").filter { $0.contains(".") && !$0.hasPrefix("sent") }
        #expect(parts.count > 18)
        for text in parts { #expect(try Place(text).description == text) }
    }

    @Test("Each message in its table begins a place")
    func messages() throws {
        for text in ["req", "res", "sent.req", "sent.res", "message#3"] {
            #expect(try code(below: "# Places").contains(text))
            #expect(try Place("\(text).json.a").description == "\(text).json.a")
        }
    }

    @Test("Each value in its table is a filter that means a place")
    func values() throws {
        let values = try code(below: "## In filters")
        #expect(values.count > 9)
        for text in values {
            let tests = try Filter(text).root.tests
            #expect(!tests.isEmpty && tests.allSatisfy { if case .place = $0 { true } else { false } }, "\(text)")
        }
    }
}
