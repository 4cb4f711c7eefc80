package import HTTPModel

/// Which exchanges a list has, and in which order.
package struct ListQuery: Hashable, Sendable {
    package var filter: Filter = .everything
    /// `nil` for the order of numbers, oldest first.
    package var sort: SortOrder?
    /// The hosts that are focused on, as `name` or `name:port`; empty for all.
    package var focusedHosts: Set<String> = []
    /// The hosts that are hidden; they are recorded all the same.
    package var ignoredHosts: Set<String> = []
    /// The only exchanges, lowest number first; `nil` for all.
    package var only: [Int64]?
    /// The place of the structure that alone is meant, with all below it; `nil` for all.
    package var place: StructureNode?
    /// Text that one of their bodies must also contain, in any case; `nil` or empty for none.
    package var bodyText: String?
    /// When they began, in microseconds since 1970; `nil` for any time.
    package var period: Range<Int64>?

    package init(sort: SortOrder? = nil) { self.sort = sort }

    /// The longest text to search for, in bytes.
    static let longestBodyText = 4_096

    var filterWithoutBody: Filter {
        var all = filter.and(.authorities(focusedHosts)).and(.except(ignoredHosts))
        if let url = place?.url { all = all.and(.place(url, withBelow: true)) }
        return period.map { all.and(.begun(in: $0)) } ?? all
    }

    /// What an exchange must pass apart from the text in its bodies, each part with words for it.
    var terms: [(filter: Filter, words: String)] {
        var terms = filter.conjuncts.map { (filter: $0, words: $0.description) }
        func add(_ filter: Filter, _ words: String) { terms.append((filter, words)) }
        if !focusedHosts.isEmpty { add(.authorities(focusedHosts), "the focus on \(Self.names(focusedHosts))") }
        if !ignoredHosts.isEmpty { add(.except(ignoredHosts), "what is ignored: \(Self.names(ignoredHosts))") }
        if let url = place?.url { add(.place(url, withBelow: true), "the place \(url)") }
        if let period { add(.begun(in: period), "the time \(TimelineView.words(period))") }
        return terms.filter { !$0.filter.matchesEverything }
    }

    static func names(_ hosts: Set<String>) -> String { hosts.sorted().joined(separator: ", ") }

    /// Whether more than the filter takes exchanges away.
    var isNarrowed: Bool {
        bodyText != nil || only != nil || !focusedHosts.isEmpty || !ignoredHosts.isEmpty || period != nil
    }

    /// Whether it leaves all exchanges.
    var leavesAll: Bool { only == nil && wholeFilter.matchesEverything }

    /// The same query, of what is at or below a place of the structure alone.
    func below(_ node: StructureNode) -> ListQuery {
        var query = self
        query.place = node
        return query
    }

    /// The filter, the focus, the ignored hosts and the text in bodies together.
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
