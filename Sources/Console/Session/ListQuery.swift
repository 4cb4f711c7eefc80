package import HTTPModel

/// Which exchanges a list has, and in which order.
package struct ListQuery: Hashable, Sendable {
    /// The filter that they pass.
    package var filter: Filter = .everything
    /// What they are ordered by; `nil` for their numbers, oldest first.
    package var sort: SortOrder?
    /// The hosts that are focused on; empty for all.
    package var focusedHosts: Set<String> = []
    /// Text that one of their bodies must have besides, in whatever case; `nil` or empty for none.
    package var bodyText: String?

    /// Asks for all exchanges.
    package init() {}

    /// The longest text that is searched for, in bytes.
    static let longestBodyText = 4_096

    /// The filter and the focus together.
    var filterWithoutBody: Filter {
        focusedHosts.isEmpty ? filter : filter.and(.hosts(focusedHosts))
    }

    /// Everything that leaves exchanges out.
    var wholeFilter: Filter {
        guard let bodyText, !bodyText.isEmpty else { return filterWithoutBody }
        return filterWithoutBody.and(.body(containing: bodyText))
    }
}

/// What a list is ordered by.
package struct SortOrder: Hashable, Sendable {
    package var column: SortColumn
    /// Whether the largest comes first.
    package var isDescending: Bool

    /// Orders by a column.
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
