package import Content
package import HTTPModel
import Text

/// A column of `list --columns`: a fact of the record or a place.
package enum ListedColumn: Sendable, Hashable {
    package enum Fact: String, Sendable, Hashable, CaseIterable {
        case id, start, method, scheme, host, path, url, status, type, size, time, version, process, server, comment
    }

    case fact(Fact)
    case place(Place)

    package var title: String {
        switch self {
        case .fact(let fact): fact.rawValue.uppercased()
        case .place(let place): "\(place)"
        }
    }

    /// Reads a comma-separated list of columns. Throws `ListedColumnError` for a wrong name.
    package static func columns(_ text: String) throws(ListedColumnError) -> [ListedColumn] {
        var columns: [ListedColumn] = []
        for name in text.split(atUnquoted: ",").map({ String($0.drop { $0 == " " }) }) {
            if let fact = Fact(rawValue: name.lowercased()) {
                columns.append(.fact(fact))
                continue
            }
            do throws(PlaceError) {
                columns.append(.place(try Place(name)))
            } catch {
                let facts = Fact.allCases.map(\.rawValue)
                let nearest = Spelling.nearest(to: name, among: facts).map { "did you mean '\($0)'?" }
                let isPlace = name.contains(".") || name.contains("#")
                throw ListedColumnError(
                    message: isPlace ? "'\(name)' is not a place: \(error.message)" : "there is no column '\(name)'",
                    suggestion: isPlace
                        ? error.suggestion : nearest ?? "columns are \(facts.joined(separator: ", ")), and places"
                )
            }
        }
        return columns
    }

    /// The value for a program: numbers without units, times in milliseconds; empty if there is none.
    package func text(_ record: ExchangeRecord, _ places: ExchangePlaces?) throws -> String {
        switch self {
        case .fact(let fact): ListedColumn.text(fact, record)
        case .place(let place):
            try place.text(of: record) ?? places?.values(at: place).map(\.text).joined(separator: ", ") ?? ""
        }
    }

    private static func text(_ fact: Fact, _ record: ExchangeRecord) -> String {
        switch fact {
        case .id: record.id.description
        case .start: Timestamp.iso8601(record.startedAt)
        case .method: record.method
        case .scheme: record.url.scheme
        case .host: record.url.host
        case .path: record.url.pathAndQuery
        case .url: record.url.description
        case .status: record.status > 0 ? String(record.status) : ""
        case .type: record.mediaType
        case .size: record.listedSize.description
        case .time: record.timings.total.map { "\($0 / 1_000).\((Int($0) % 1_000).padded(to: 3))" } ?? ""
        case .version: record.clientVersion.description
        case .process: record.extras.process.map { "\($0.name) \($0.id)" } ?? ""
        case .server: record.serverAddress ?? ""
        case .comment: record.extras.annotation.comment ?? ""
        }
    }
}

package struct ListedColumnError: Error, Sendable, CustomStringConvertible {
    package let message: String
    package let suggestion: String?

    package var description: String { message + (suggestion.map { "; \($0)" } ?? "") }
}
