public import HTTPModel

/// Which exchanges a list has, and in which order.
public struct ListQuery: Hashable, Sendable {
    /// The filter that they pass.
    public var filter: Filter = .everything
    /// What they are ordered by; `nil` for their numbers, oldest first.
    public var sort: SortOrder?
    /// The hosts that are focused on; empty for all.
    public var focusedHosts: Set<String> = []
    /// Text that one of their bodies must have besides, in whatever case; `nil` or empty for none.
    public var bodyText: String?

    /// Asks for all exchanges.
    public init() {}

    /// The filter and the focus together.
    var wholeFilter: Filter {
        focusedHosts.isEmpty ? filter : filter.and(.hosts(focusedHosts))
    }
}

/// What a list is ordered by.
public struct SortOrder: Hashable, Sendable {
    /// The column.
    public var column: SortColumn
    /// Whether the largest comes first.
    public var isDescending: Bool

    /// Orders by a column.
    public init(column: SortColumn, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }
}

/// A column that a list can be ordered by.
public enum SortColumn: String, CaseIterable, Sendable {
    /// The number in the session.
    case id
    /// When it began.
    case start
    /// The method.
    case method
    /// The host.
    case host
    /// The path.
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
