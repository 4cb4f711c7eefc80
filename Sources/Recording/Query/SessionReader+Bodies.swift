import Content
import GRDB
package import HTTPModel
import NIOCore

/// Where a text was found in a body.
package struct BodyHit: Sendable, Hashable {
    package var side: BodySide
    /// At which byte, content codings undone.
    package var offset: Int64
    /// Whether content codings had to be undone to find it.
    package var isDecoded: Bool
}

extension SessionReader {
    /// Finds where a text first occurs in each of an exchange's bodies; empty where it does not.
    ///
    /// Content codings are undone. Of each body the first 16 MiB are looked at.
    ///
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func hits(of text: BodyText, in id: ExchangeID) throws -> [BodyHit] {
        try read(inOneTransaction: true) { try hits(of: text, in: id.number, limit: .max, $0) }
    }

    func firstHit(of text: BodyText, in id: Int64, _ database: Database) throws -> BodyHit? {
        try hits(of: text, in: id, limit: 1, database).first
    }

    private func hits(of text: BodyText, in id: Int64, limit: Int, _ database: Database) throws -> [BodyHit] {
        let sql = """
            SELECT exchange.id, request_body_size, response_body_size, state, flags,
            request_head, request_head_sent, response_head, response_head_sent,
            request_body, request_body_sent, response_body, response_body_sent
            FROM exchange JOIN payload ON payload.id = exchange.payload WHERE exchange.id = ?
            """
        var hits: [BodyHit] = []
        var codings: [BodySide: String] = [:]
        var mayHaveChunks = false
        try RowReader.forEachRow(sql, [id], in: database, path: path, subject: "exchange") { row in
            _ = try row.number()
            let sizes = (request: try row.number(), response: try row.number())
            let isOpen = try row.number() == Int64(ExchangeRecord.State.inFlight.rawValue)
            let flags = ExchangeRecord.Flags(rawValue: UInt32(truncatingIfNeeded: try row.number()))
            for side in BodySide.allCases {
                // A head without the name of the field, in whatever case, needs no closer look.
                codings[side] = try row.withBytes { head in
                    guard let head, Self.codingField?.firstPlace(in: head) != nil else { return nil }
                    return StoredHead.fields(ByteBuffer(bytes: head)).value(of: .contentEncoding)
                }
            }
            codings[.requestSent] = codings[.requestSent] ?? codings[.requestReceived]
            codings[.responseSent] = codings[.responseSent] ?? codings[.responseReceived]
            for side in BodySide.allCases {
                let hit = try row.withBytes { body in
                    if body == nil {
                        // What is not in this row may be in chunks, if there is any such body.
                        mayHaveChunks =
                            switch side {
                            case .requestReceived: mayHaveChunks || sizes.request > 0
                            case .requestSent: mayHaveChunks || flags.contains(.requestBodyChanged)
                            case .responseReceived: mayHaveChunks || sizes.response > 0
                            case .responseSent: mayHaveChunks || flags.contains(.responseBodyChanged)
                            }
                    }
                    guard let body, hits.count < limit else { return nil as BodyHit? }
                    var search = SideSearch(text, side, coding: codings[side])
                    return search.feed(body)
                }
                if let hit { hits.append(hit) }
            }
            mayHaveChunks = mayHaveChunks || isOpen
        }
        guard mayHaveChunks, hits.count < limit else { return hits }
        let chunksSQL = "SELECT exchange, side, offset, data FROM chunk WHERE exchange = ? ORDER BY side, offset"
        var search: SideSearch?
        try RowReader.forEachRow(chunksSQL, [id], in: database, path: path, subject: "chunk of exchange") { row in
            _ = try row.number()
            let side = try row.value(BodySide.self)
            let offset = try row.number()
            // What follows a gap in a damaged session is no part of the match before it, nor of what was decoded.
            if search?.side != side || search?.end != offset {
                guard offset == 0 else { return }
                search = SideSearch(text, side, coding: codings[side])
            }
            try row.withBytes { data in
                guard hits.count < limit, let data, let hit = search?.feed(data) else { return }
                hits.append(hit)
            }
        }
        return hits
    }

    private static let codingField = BodyText("content-encoding:")
}

/// Searches one body as it comes out of the file, in pieces.
private struct SideSearch {
    let side: BodySide
    /// How many bytes of the body, as stored, have come.
    private(set) var end: Int64 = 0
    private var search: BodySearch
    private var hasHit = false
    private let decoder: ContentDecoder?

    init(_ text: BodyText, _ side: BodySide, coding: String?) {
        self.side = side
        search = BodySearch(text)
        decoder = coding.map { ContentDecoder(contentEncoding: $0, limit: SessionReader.searchLimit) }
    }

    /// Takes the next bytes; returns the body's first match if it is complete now.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> BodyHit? {
        defer { end += Int64(bytes.count) }
        guard !hasHit, end < SessionReader.searchLimit else { return nil }
        var place: Int64?
        if let decoder {
            decoder.decode(ByteBuffer(bytes: bytes)) { piece in
                if place == nil { place = search.feed(piece) }
            }
        } else {
            place = search.feed(bytes)
        }
        guard let place else { return nil }
        hasHit = true
        return BodyHit(side: side, offset: place, isDecoded: decoder != nil)
    }
}
