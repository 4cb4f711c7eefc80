import Foundation
import HTTPModel
import NIOCore
import Recording
import Support

@testable import Store

/// Puts a row that anybody may have written into a store into a session, and reads that.
enum StoreProbe {
    static let seeds: [[UInt8]] = [
        FuzzInput.made([]), FuzzInput.made([0, 0, 0, 0, 0, 0, 0, 7], [0, 1, 2, 3, 4, 5]),
        FuzzInput.made(Array("[{\"at\":1,\"stage\":\"a\",\"outcome\":\"note\",\"text\":\"b\"}]".utf8), [2, 40, 2]),
        FuzzInput.made(Array("HTTP/1.1 200\r\nA: b\r\n\r\n".utf8), [9, 60, 2, 61, 2, 62, 2]),
    ]

    static func run(_ whole: [UInt8]) throws {
        var input = FuzzInput(whole)
        let kinds = [.text, .bytes, .text, .text] + StoreSchema.exchange.map(\.kind)
        let names = ["session", "arrivals", "comment", "colour"] + StoreSchema.exchange.map(\.name)
        var columns = zip(names, kinds).map { name, kind -> ByteBuffer? in
            if name.hasSuffix("version") { return ByteBuffer(integer: Int64(HTTPVersion.http11.rawValue)) }
            if kind == .text, !["session", "method", "scheme", "host", "path", "media_type"].contains(name) {
                return nil
            }
            switch kind {
            case .number: return ByteBuffer(integer: Int64(1))
            case .text: return ByteBuffer(string: "a")
            case .bytes: return nil
            }
        }
        let changes = input.number(below: 12)
        for _ in 0..<changes {
            let column = input.number(below: columns.count)
            columns[column] = value(&input, kinds[column])
        }
        if input.number(below: 20) == 1 { columns.removeLast() }
        let path = NSTemporaryDirectory() + "sluice-stored-\(UUID().uuidString).sluice"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        do {
            try SessionAssembly.make(path, version: "1") { assembly in
                var row = StoredRow(columns, of: "s")
                let exchange = try StoredExchange(&row)
                let bodies = exchange.hashes.compactMap(\.self).map { ($0, ByteBuffer(repeating: 97, count: 100_000)) }
                try assembly.transaction { try exchange.insert(into: assembly, 1, [1, 1], Dictionary(bodies) { $1 }) }
                _ = try assembly.keep([(try Filter("not body:zz"), [1])], most: 1)
            }
            let reader = try SessionReader(path: path)
            for record in try reader.records(limit: 2) { try demand(record.id.number == 1, "number \(record.id)") }
            _ = try reader.exchange(ExchangeID(1))
            for side in BodySide.allCases {
                _ = try reader.body(of: ExchangeID(1), side: side, limit: 200_000)
                _ = try reader.arrivals(of: ExchangeID(1), side: side, from: 0, limit: 1_000)
            }
        } catch let error as SessionError {
            try demand(changes > 0, "a good row: \(error)")
            try demand(!error.message.isEmpty, "no message")
        } catch let error as StoreError {
            try demand(error.message.contains("store s"), "an error does not name the store: \(error)")
        }
    }

    private static func value(_ input: inout FuzzInput, _ kind: SessionTable.Kind) -> ByteBuffer? {
        switch (input.number(below: 8), kind) {
        case (0, _): nil
        case (1, _): ByteBuffer(bytes: input.bytes)
        case (_, .number): ByteBuffer(integer: input.choose(HostileNumbers.whole))
        case (_, .text): ByteBuffer(string: input.choose(["", "[]", "{}", "null", "[1]", "\u{0}", "a: b\r\n\r\n"]))
        case (_, .bytes): ByteBuffer(repeating: input.decide(), count: Int(input.decide()))
        }
    }
}
