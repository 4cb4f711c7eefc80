package enum Column: String, CaseIterable, Sendable, Hashable {
    case id, start, method, host, path, status, type, size, time, waterfall, comment

    /// Those that a list can be sorted by.
    package static let sortable = allCases.filter { $0 != .waterfall && $0 != .comment }

    var title: String { self == .id ? "#" : rawValue.uppercased() }
}
