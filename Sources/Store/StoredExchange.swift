import Foundation
import HTTPModel
import NIOCore
import Recording

/// A row of `exchanges` as it goes into a session.
struct StoredExchange {
    let session: String
    let number: Int64
    let hashes: [ByteBuffer?]
    let connections: [Int64?]
    private let arrivals: ByteBuffer?
    private let annotation: (comment: String?, colour: String?)
    private let values: [Value]

    private enum Value {
        case number(Int64?)
        case text(String?)
        case bytes(ByteBuffer?)
    }

    init(_ row: inout StoredRow) throws {
        session = try row.text()
        arrivals = try row.optionalBytes()
        annotation = (try row.optionalText(), try row.optionalText())
        var values: [Value] = []
        for column in StoreSchema.exchange[..<StoreSchema.bodies] {
            switch column.kind {
            case .number: values.append(.number(try row.optionalNumber()))
            case .text: values.append(.text(try row.optionalText()))
            case .bytes: values.append(.bytes(try row.optionalBytes()))
            }
        }
        hashes = try (0..<4).map { _ in try row.optionalBytes() }
        func value(_ name: String) -> Int64? {
            guard let index = StoreSchema.exchange.firstIndex(where: { $0.name == name }), index < values.count,
                case .number(let number) = values[index]
            else { return nil }
            return number
        }
        guard let number = value("id") else { throw row.damage("is missing") }
        self.number = number
        connections = [value("client_connection"), value("upstream_connection")]
        self.values = values
    }

    func insert(
        into assembly: SessionAssembly,
        _ number: Int64,
        _ connections: [Int64?],
        _ bodies: [ByteBuffer: ByteBuffer]
    ) throws {
        let count = SessionTable.exchange.columns.count - 1
        try assembly.insert(.exchange) { sink in
            for (column, value) in zip(StoreSchema.exchange, values.prefix(count)) {
                switch column.name {
                case "id":
                    sink.bind(number)
                    // The number of the payload.
                    sink.bind(number)
                case "client_connection": sink.bind(connections[0])
                case "upstream_connection": sink.bind(connections[1])
                default: StoredExchange.bind(value, into: &sink)
                }
            }
        }
        let parts = try zip(hashes, BodySide.allCases).map { hash, side in
            try assembly.shortBody(hash.flatMap { bodies[$0] }, of: number, side: side)
        }
        try assembly.insert(.payload) { sink in
            sink.bind(number)
            for (column, value) in zip(StoreSchema.exchange, values).dropFirst(count) {
                if column.name == "trace", case .text(let trace) = value {
                    sink.bind(text: try origin(after: trace))
                } else {
                    StoredExchange.bind(value, into: &sink)
                }
            }
            for part in parts { sink.bind(part) }
        }
        if annotation.comment != nil || annotation.colour != nil {
            try assembly.insert(.annotation) { sink in
                sink.bind(number)
                sink.bind(annotation.comment)
                sink.bind(annotation.colour)
                sink.bind(nil as Int64?)
            }
        }
        var list = arrivals ?? ByteBuffer()
        while let side = list.readInteger(as: UInt8.self), let offset = list.readInteger(as: Int64.self),
            let at = list.readInteger(as: Int64.self)
        {
            try assembly.insert(.arrival) { sink in
                for value in [number, Int64(side), offset, at] { sink.bind(value) }
            }
        }
    }

    /// The trace with an entry that names the recording; a trace that cannot be read is left out.
    private func origin(after trace: String?) throws -> ByteBuffer? {
        var entries = trace.flatMap { try? JSONDecoder().decode([TraceEntry].self, from: Data($0.utf8)) } ?? []
        let text = "number \(number) of the recording \(session)"
        entries.append(TraceEntry(stage: "sluice", outcome: .note, text: text))
        return try SessionTable.trace(entries)
    }

    private static func bind(_ value: Value, into sink: inout any RowSink) {
        switch value {
        case .number(let number): sink.bind(number)
        case .text(let text): sink.bind(text)
        case .bytes(let bytes): sink.bind(bytes)
        }
    }
}
