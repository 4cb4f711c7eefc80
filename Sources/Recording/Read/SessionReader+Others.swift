import HTTPModel

extension SessionReader {
    /// The numbers about an exchange, those before it first, so many that their bodies together are not longer than
    /// `bodyBytes`; bodies of exchanges that have more than `longestBody` bytes of them do not count. Throws ``SessionError``.
    package func range(
        around number: Int64,
        most: Int64,
        bodyBytes: Int64,
        longestBody: Int64
    ) throws -> ClosedRange<Int64> {
        var (range, rest, bytes) = (number...number, most, bodyBytes)
        func take(_ condition: String, _ extend: (Int64) -> Void) throws -> Bool {
            let sql = """
                SELECT id, request_body_size, response_body_size FROM exchange WHERE id \(condition) LIMIT ?
                """
            let sizes = try rows(sql, [number, max(0, rest)], of: "exchange") { row in
                let id = try row.number(in: RecordedRange.numbers)
                var size = Sizes()
                (size.requestBody, size.responseBody) = (try row.number(), try row.number())
                return (id: id, bodies: size.bodies)
            }
            for (id, size) in sizes {
                if size <= longestBody { bytes -= size }
                guard bytes >= 0 else { return false }
                extend(id)
                rest -= 1
            }
            return true
        }
        if try take("<= ? ORDER BY id DESC", { range = min($0, range.lowerBound)...range.upperBound }) {
            _ = try take("> ? ORDER BY id", { range = range.lowerBound...$0 })
        }
        return range
    }
}
