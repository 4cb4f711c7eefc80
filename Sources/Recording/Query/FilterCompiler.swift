package import HTTPModel

/// A filter as an SQL condition on `exchange AS e`, with the joins that it needs. The condition is never `NULL`,
/// because `NOT NULL` would not be true. Cheap terms come first.
package struct SQLCondition: Sendable, Hashable {
    package var sql: String
    package var arguments: [SQLArgument]
    /// `JOIN`s after `exchange AS e`; empty, or with a leading space.
    package var joins: String

    /// Argument numbers begin at `firstArgument`. For a database without our functions it is a necessary condition on
    /// columns.
    package init(_ filter: Filter, dialect: SQLDialect = .sqlite, firstArgument: Int = 1) {
        var compiler = FilterCompiler(dialect: dialect, firstArgument: firstArgument)
        let root = dialect.hasFunctions ? filter.root : filter.root.necessary()
        sql = compiler.condition(root)
        arguments = compiler.arguments
        joins = ""
        let tests = root.tests
        if tests.contains(where: { $0.readsPayload }) {
            joins += " LEFT JOIN payload AS p ON p.id = e.payload"
        }
        for (leg, table, column) in [
            (ConnectionRecord.Leg.client, "c", "client_connection"), (.upstream, "u", "upstream_connection"),
        ] where tests.contains(where: { if case .address(leg, _) = $0 { true } else { false } }) {
            joins += " LEFT JOIN connection AS \(table) ON \(table).id = e.\(column)"
        }
    }
}

extension SQLCondition {
    /// ``ExchangeRecord/hasFailed`` in SQL.
    static let failed = "(e.state = \(ExchangeRecord.State.failed.rawValue) OR e.failure IS NOT NULL)"

    /// ``ExchangeRecord/isError`` in SQL.
    static let error = "(\(failed) OR e.status >= 400 OR coalesce(e.grpc_status, 0) > 0)"
}

extension FilterTest {
    /// Whether the condition needs the row with heads and bodies.
    fileprivate var readsPayload: Bool {
        switch self {
        case .matches(.field, _): true
        case .place(let test): PlaceColumn.allCases.contains { $0.isInPayload && $0.isNeeded(by: test.place) }
        default: needs == .bodies
        }
    }
}

private struct FilterCompiler {
    let dialect: SQLDialect
    let firstArgument: Int
    var arguments: [SQLArgument] = []

    init(dialect: SQLDialect, firstArgument: Int) {
        self.dialect = dialect
        self.firstArgument = firstArgument
    }

    /// Deeper operands become a flat list, because the stack of SQLite's parser has 100 entries.
    private static let deepest = 6

    mutating func condition(_ node: FilterNode) -> String {
        guard node.depth <= Self.deepest else { return decisions(node) }
        switch node {
        case .everything: return "TRUE"
        case .term(let term): return joined(term.tests.map { condition($0) }, "OR")
        case .not(let operand): return "NOT \(condition(operand))"
        case .and(let operands): return joined(operands.map { condition($0) }, "AND")
        case .or(let operands): return joined(operands.map { condition($0) }, "OR")
        }
    }

    /// Writes a deep filter as one flat `CASE`. A false operand decides an `AND`, and a true operand an `OR`. If none
    /// does, the most deeply nested operand decides; its own operands are the next cases.
    private mutating func decisions(_ root: FilterNode) -> String {
        var (cases, node, isNegated) = ("", root, false)
        while node.depth > Self.deepest {
            switch node {
            case .not(let operand):
                isNegated.toggle()
                node = operand
            case .and(let operands), .or(let operands):
                let isAnd = if case .and = node { true } else { false }
                let last = operands.indices.max { operands[$0].depth < operands[$1].depth } ?? 0
                for (index, operand) in operands.enumerated() where index != last {
                    cases +=
                        " WHEN \(isAnd ? "NOT " : "")\(condition(operand)) THEN \(isAnd == isNegated ? "TRUE" : "FALSE")"
                }
                node = operands[last]
            case .everything, .term: return condition(node)
            }
        }
        let last = (isNegated ? "NOT " : "") + condition(node)
        return cases.isEmpty ? last : "CASE\(cases) ELSE \(last) END"
    }

    /// Joins at most 100 conditions in a row, because SQLite does not evaluate a row of 1,000.
    private func joined(_ conditions: [String], _ word: String) -> String {
        guard conditions.count > 1 else { return conditions.first ?? "TRUE" }
        guard conditions.count > 100 else { return "(\(conditions.joined(separator: " \(word) ")))" }
        let parts = stride(from: 0, to: conditions.count, by: 100).map { start in
            joined(Array(conditions[start..<min(start + 100, conditions.count)]), word)
        }
        return joined(parts, word)
    }

    private mutating func argument(_ argument: SQLArgument) -> String {
        arguments.append(argument)
        return dialect.placeholder(firstArgument + arguments.count - 1)
    }

    private mutating func condition(_ test: FilterTest) -> String {
        switch test {
        case .matches(.text(let field), .glob(let glob)): text(field.column, glob)
        case .matches(.text(let field), let pattern):
            "sluice_matches(\(argument(.search(SearchedText(pattern)))), \(field.column), e.id)"
        case .matches(.url, .glob(let glob)): url(glob)
        case .matches(.url, let pattern): hasURL(pattern)
        case .matches(.field(let side, let name), let pattern): field(side, SearchedText(pattern, name: name))
        case .matches(.body(let side), .glob(let glob)) where glob.shape == .infix:
            body(side, SearchedText(.glob(glob), question: .text(BodyText(glob))))
        case .matches(.body(let side), .expression(let expression)):
            body(side, SearchedText(.expression(expression), question: .expression(expression)))
        case .matches(.body, _): "TRUE"
        case .mediaTypePart(let part):
            "(\(like("e.media_type", "%", part, "%")) AND sluice_has_part(e.media_type, \(argument(.text(part)))))"
        case .number(let field, let range): number(field, range)
        case .version(let range):
            "(\(version("e.client_version", range))"
                + " OR e.upstream_version IS NOT NULL AND \(version("e.upstream_version", range)))"
        case .property(let property): condition(property.condition)
        case .address(let leg, let glob):
            "sluice_has_address(\(argument(.search(SearchedText(.glob(glob))))), \(leg == .client ? "c" : "u").peer_address)"
        case .place(let test): place(test)
        case .recording(let test): recording(test)
        }
    }

    // MARK: - Numbers and facts

    private func number(_ field: FilterTest.NumberField, _ range: ClosedRange<Int64>) -> String {
        switch field {
        // The statement already selects by number; the `+` keeps SQLite from using the index for this condition.
        case .id: between("+e.id", range)
        case .port: between("e.port", range)
        case .status: between("e.status", range)
        case .size: between("(\(ExchangeOrder.listedSize.rawValue))", range)
        case .time: "(e.total IS NOT NULL AND \(between("e.total", range)))"
        case .startedAt: between("e.started_at", range)
        case .messages: between("e.client_messages + e.server_messages", range)
        case .grpc: "(e.grpc_status IS NOT NULL AND \(between("e.grpc_status", range)))"
        case .process: "(e.process_id IS NOT NULL AND \(between("e.process_id", range)))"
        }
    }

    private func version(_ column: String, _ range: ClosedRange<HTTPVersion>) -> String {
        between(column, Int64(range.lowerBound.rawValue)...Int64(range.upperBound.rawValue))
    }

    private func between(_ value: String, _ range: ClosedRange<Int64>) -> String {
        if range.lowerBound == range.upperBound { return "\(value) = \(range.lowerBound)" }
        // SQL has no literal for the lowest `Int64`.
        if range.lowerBound == .min { return "\(value) <= \(range.upperBound)" }
        if range.upperBound == .max { return "\(value) >= \(range.lowerBound)" }
        return "\(value) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    }

    private func condition(_ condition: FilterProperty.Condition) -> String {
        switch condition {
        case .flags(let flags): "(e.flags & \(flags.rawValue)) <> 0"
        case .state(let state): "e.state = \(state.rawValue)"
        case .kinds(let kinds): "e.kind IN (\(kinds.map { "\($0.rawValue)" }.joined(separator: ", ")))"
        case .failure(let code): "coalesce(e.failure, '') = '\(code.rawValue)'"
        case .commented:
            "EXISTS (SELECT 1 FROM annotation AS n WHERE n.exchange = e.id AND n.comment IS NOT NULL)"
        case .imported: "e.origin IS NOT NULL"
        case .failed: SQLCondition.failed
        case .error: SQLCondition.error
        case .grpc:
            "((e.flags & \(ExchangeRecord.Flags.grpc.rawValue)) <> 0 OR e.grpc_status IS NOT NULL OR "
                + "substr(e.media_type, 1, \(FilterProperty.grpcMediaType.count)) = '\(FilterProperty.grpcMediaType)')"
        }
    }

    // MARK: - Texts

    private mutating func text(_ column: String, _ glob: Glob) -> String {
        let literal = String(decoding: glob.literalBytes, as: UTF8.self)
        switch (glob.shape, glob.ignoresCase) {
        case (.everything, _): return "TRUE"
        case (.literal, true): return dialect.equals(column, argument(.text(literal)))
        case (.prefix, true): return like(column, "", literal, "%")
        case (.suffix, true): return like(column, "%", literal, "")
        case (.infix, true): return like(column, "%", literal, "%")
        case (.literal, false): return "\(column) = \(argument(.text(literal)))"
        case (.prefix, false):
            return "substr(\(column), 1, \(literal.unicodeScalars.count)) = \(argument(.text(literal)))"
        case (.infix, false): return "\(dialect.position)(\(column), \(argument(.text(literal)))) > 0"
        case (.suffix, false), (.general, _):
            return "sluice_matches(\(argument(.search(SearchedText(.glob(glob))))), \(column), e.id)"
        }
    }

    private mutating func like(_ column: String, _ before: String, _ text: String, _ after: String) -> String {
        var escaped = before
        for character in text.unicodeScalars {
            if "%_\\".unicodeScalars.contains(character) { escaped += "\\" }
            escaped.unicodeScalars.append(character)
        }
        return dialect.like(column, argument(.text(escaped + after)))
    }

    /// Searching each of a URL's five columns is faster than joining them. If the path begins with a slash, a literal
    /// without `:`, `/`, `?` and brackets can only be within one column. If the pattern is more than such a literal,
    /// the literal preselects rows.
    private mutating func url(_ glob: Glob) -> String {
        if glob.matchesEverything { return "TRUE" }
        let part = Self.longestPart(of: glob)
        guard !part.isEmpty else { return dialect.hasFunctions ? hasURL(.glob(glob)) : "TRUE" }
        let text = String(decoding: part, as: UTF8.self)
        let isNumber = part.allSatisfy { $0 &- 0x30 < 10 }
        let isInScheme = !glob.ignoresCase || ["https", "wss"].contains { Array($0.utf8).firstRange(of: part) != nil }
        let columns =
            ["e.path", "e.host", "coalesce(e.query, '')"] + (isInScheme ? ["e.scheme"] : [])
            + (isNumber ? ["CAST(e.port AS TEXT)"] : [])
        let within = joined(columns.map { like($0, "%", text, "%") }, "OR")
        // A tunnel has no path. This is not a `CASE`, because SQLite would then evaluate all operands of the `OR`.
        let isUsual = "e.path >= '/' AND e.path < '0'"
        let isUnusual = "(e.path < '/' OR e.path >= '0')"
        guard dialect.hasFunctions else { return "(\(within) OR \(isUnusual))" }
        if glob.shape == .infix, glob.ignoresCase, glob.literalBytes == part, !isNumber {
            return "(\(within) AND \(isUsual) OR \(isUnusual) AND \(hasURL(.glob(glob))))"
        }
        return "((\(within) OR \(isUnusual)) AND \(hasURL(.glob(glob))))"
    }

    private mutating func hasURL(_ pattern: FilterTest.Pattern) -> String {
        "sluice_has_url(\(argument(.search(SearchedText(pattern)))), e.scheme, e.host, e.port, e.path, e.query, e.id)"
    }

    private static func longestPart(of glob: Glob) -> [UInt8] {
        var longest: [UInt8] = []
        var part: [UInt8] = []
        for element in glob.elements {
            if case .byte(let byte) = element, !":/?[]".utf8.contains(byte) { part.append(byte) } else { part = [] }
            if part.count > longest.count { longest = part }
        }
        return longest
    }

    private mutating func recording(_ test: FilterTest.Recording) -> String {
        switch test {
        case .identifier(let beginning):
            dialect.recording("\(dialect.identifier) LIKE \(argument(.text(beginning + "%")))")
        case .label(let name, let value):
            dialect.recording(dialect.label(argument(.text(name)), argument(.text(value))))
        }
    }

    // MARK: - Messages

    private mutating func field(_ side: FilterTest.Side, _ search: SearchedText) -> String {
        let place = argument(.search(search))
        let conditions = ["request", "response"].enumerated().filter { Self.isOf($1, side) }.map { section, message in
            "sluice_has_field(\(place), \(section), p.\(message)_head, p.\(message)_head_sent, p.\(message)_trailers, e.id)"
        }
        return joined(conditions, "OR")
    }

    /// Searches bodies in the payload row, or in chunks by the exchange's number if the row has no body.
    private mutating func body(_ side: FilterTest.Side, _ search: SearchedText) -> String {
        let place = argument(.search(search))
        let inFlight = "e.state = \(ExchangeRecord.State.inFlight.rawValue)"
        let messages: [(String, BodySide, ExchangeRecord.Flags)] = [
            ("request", .requestReceived, .requestBodyChanged), ("response", .responseReceived, .responseBodyChanged),
        ]
        let conditions = messages.filter { Self.isOf($0.0, side) }.map { message, received, changed in
            let isChanged = "(e.flags & \(changed.rawValue)) <> 0"
            let body = "p.\(message)_body"
            return """
                ((\(body) IS NOT NULL OR e.\(message)_body_size > 0 OR \(inFlight) OR \(isChanged)) AND \
                sluice_has_body(\(place), e.id, \(received.rawValue), p.\(message)_head, \(body), \
                p.\(message)_head_sent, \(body)_sent, \(inFlight) OR \(isChanged)))
                """
        }
        return joined(conditions, "OR")
    }

    /// Calls `sluice_has_place` with the columns that the place needs, and `NULL` for all other columns.
    private mutating func place(_ test: PlaceTest) -> String {
        let search = argument(.search(SearchedText(test)))
        let columns = PlaceColumn.allCases.map { $0.isNeeded(by: test.place) ? $0.sql : "NULL" }
        let call = "sluice_has_place(\(search), \(columns.joined(separator: ", ")))"
        if case .message = test.place.root {
            let socket = ExchangeRecord.Kind.webSocket.rawValue
            return "((e.kind = \(socket) OR e.client_messages + e.server_messages > 0) AND \(call))"
        }
        return call
    }

    private static func isOf(_ message: String, _ side: FilterTest.Side) -> Bool {
        switch side {
        case .either: true
        case .request: message == "request"
        case .response: message == "response"
        }
    }
}

extension FilterTest.TextField {
    fileprivate var column: String {
        switch self {
        case .scheme: "e.scheme"
        case .host: "e.host"
        case .path: "e.path"
        case .query: "coalesce(e.query, '')"
        case .method: "e.method"
        case .mediaType: "e.media_type"
        case .comment: "coalesce((SELECT n.comment FROM annotation AS n WHERE n.exchange = e.id), '')"
        case .colour: "coalesce((SELECT n.colour FROM annotation AS n WHERE n.exchange = e.id), '')"
        case .process: "coalesce(e.process_name, '')"
        case .mode: "coalesce(e.listening_mode, 'regular')"
        }
    }
}

extension FilterNode {
    /// How many levels of operands are below the node.
    fileprivate var depth: Int {
        switch self {
        case .everything, .term: 0
        case .not(let operand): operand.depth + 1
        case .and(let operands), .or(let operands): (operands.map(\.depth).max() ?? 0) + 1
        }
    }
}
