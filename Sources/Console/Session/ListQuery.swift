package import HTTPModel

/// Which exchanges a list has, and in which order.
package struct ListQuery: Hashable, Sendable {
    package var filter: Filter = .everything
    /// `nil` for the order of numbers, oldest first.
    package var sort: SortOrder?
    /// The hosts that are focused on; empty for all.
    package var focusedHosts: Set<String> = []
    /// Text that one of their bodies must also contain, in any case; `nil` or empty for none.
    package var bodyText: String?

    package init() {}

    /// The longest text to search for, in bytes.
    static let longestBodyText = 4_096

    var filterWithoutBody: Filter { focusedHosts.isEmpty ? filter : filter.and(.hosts(focusedHosts)) }

    /// The filter, the focus and the text in bodies together.
    var wholeFilter: Filter {
        guard let bodyText, !bodyText.isEmpty else { return filterWithoutBody }
        return filterWithoutBody.and(.body(containing: bodyText))
    }
}

package struct SortOrder: Hashable, Sendable {
    package var column: SortColumn
    package var isDescending: Bool

    package init(column: SortColumn, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }
}

/// A column that a list can be ordered by.
package enum SortColumn: String, CaseIterable, Sendable {
    /// The number in the session.
    case id
    /// When it began.
    case start
    case method
    case host
    case path
    /// The status; those without one first.
    case status
    /// The response's media type.
    case type
    /// Bytes of the response's body.
    case size
    /// How long it took; those in flight first.
    case time
}
