import Content
import Foundation
package import HTTPModel
import NIOCore

package struct StoredRules: Sendable, Hashable {
    /// From 1 in each session.
    package var number: Int64
    package var at: Int64
    /// In the order in which they were read, with included files.
    package var sources: [ProfileSource]
    /// Sorted names of tools.
    package var switchedOff: [String]
}

extension StoredRules {
    /// From the texts of a row; throws `DecodingError`.
    package init(number: Int64, at: Int64, sources: String, switchedOff: String) throws {
        let decoder = JSONDecoder()
        self.init(
            number: number,
            at: at,
            sources: try decoder.decode([ProfileSource].self, from: Data(sources.utf8)),
            switchedOff: try decoder.decode([String].self, from: Data(switchedOff.utf8))
        )
    }

    package func texts() throws -> (sources: String, switchedOff: String) {
        (String(buffer: try JSONWriter.sources(sources)), String(buffer: try JSONWriter.names(switchedOff)))
    }
}

struct RulesNote: Sendable {
    var at: Int64
    var sources: [ProfileSource]
    var switchedOff: [String]
    var admits: (@Sendable (RequestURL) -> Bool)?

    /// In bytes of the recorder's credit.
    var cost: Int { sources.reduce(512) { $0 + $1.file.utf8.count + $1.text.utf8.count } }
}
