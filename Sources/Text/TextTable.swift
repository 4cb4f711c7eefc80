/// Rows of cells in columns; each column is as wide as its widest cell.
package enum TextTable {
    package static func text(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.compactMap { $0.dropFirst(column).first?.columns }.max() ?? 0 }
        return rows.map { row in
            var line = row.enumerated().map { column, cell in
                rightAligned.contains(column) ? cell.aligned(to: widths[column]) : cell.filled(to: widths[column])
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
