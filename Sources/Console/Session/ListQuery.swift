public import HTTPModel
public import Recording
public struct ListQuery: Hashable, Sendable {
    public var filter = Filter.everything
    public var sort: SortOrder?
    public var focusedHosts: Set<String> = []
    public var bodyText: String?
    public init() {}
}
public struct SortOrder: Hashable, Sendable { public var column: SortColumn; public var isDescending: Bool }
public enum SortColumn: String, CaseIterable, Sendable { case id, start, method, host, path, status, type, size, time }
public struct ListStatus: Hashable, Sendable {
    public var generation = 0
    public var total = 0
    public var appended = 0
    public var sessionTotal = 0
    public var progress: Double?
    public var excludedBy: String?
    public var error: String?
}
public enum DeskEvent: Sendable { case list(ListStatus); case rows(generation: Int, first: Int, [ExchangeRecord?]); case position(generation: Int, id: ExchangeID, index: Int?); case found(generation: Int, index: Int?, JumpKind); case exchange(RecordedExchange?); case structure(StructureLevel); case summary(SessionSummary); case failed(String) }
public enum JumpKind: Hashable, Sendable { case error, slow(Int64), large(Int64), changedByRule, held, marked(Set<Int64>), sameEndpoint(method: String, host: String, path: String), sameHost(String) }
public struct StructureNode: Hashable, Sendable { public var site: String?; public var segments: [String]
    public static let root = StructureNode(site: nil, segments: []) }
public struct StructureChild: Hashable, Sendable { public var name: String; public var node: StructureNode; public var isLeaf: Bool; public var count: Int; public var errors: Int; public var inFlight: Int }
public struct StructureLevel: Sendable { public var node: StructureNode; public var generation: Int; public var children: [StructureChild]; public var more: Int }
