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
    /// When they began, in microseconds since 1970; `nil` for any time.
    package var period: Range<Int64>?

    package init(sort: SortOrder? = nil) { self.sort = sort }

    /// The longest text to search for, in bytes.
    static let longestBodyText = 4_096

    var filterWithoutBody: Filter {
        let focused = focusedHosts.isEmpty ? filter : filter.and(.hosts(focusedHosts))
        return period.map { focused.and(.begun(in: $0)) } ?? focused
    }

    /// The filter, the focus and the text in bodies together.
    var wholeFilter: Filter {
        guard let bodyText, !bodyText.isEmpty else { return filterWithoutBody }
        return filterWithoutBody.and(.body(containing: bodyText))
    }
}

package struct SortOrder: Hashable, Sendable {
    package var column: Column
    package var isDescending: Bool

    package init(column: Column, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }
}
