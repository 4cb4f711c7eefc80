import Content
package import HTTPModel
package import NIOCore

/// The tables of a session whose rows a store has, too, with the columns that a ``RowSink`` takes.
package enum SessionTable: Sendable, CaseIterable {
    case exchange, payload, connection, route, chunk, arrival, annotation

    package enum Kind: Sendable {
        case number, text, bytes
    }

    /// The column of a trace.
    package static func trace(_ entries: [TraceEntry]) throws -> ByteBuffer? { try JSONWriter.trace(entries) }

    var table: Schema.Table {
        switch self {
        case .exchange: Schema.exchange
        case .payload: Schema.payload
        case .connection: Schema.connection
        case .route: Schema.route
        case .chunk: Schema.chunk
        case .arrival: Schema.arrival
        case .annotation: Schema.annotation
        }
    }

    package var columns: [(name: String, kind: Kind)] {
        Array(zip(table.columns.split(separator: ", ").map { String($0) }, table.kinds))
    }
}
