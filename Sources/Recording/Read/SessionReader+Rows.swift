import Foundation
import GRDB
import HTTPModel
import NIOCore

extension RowReader {
    /// Negative for exchanges in flight.
    private static let payloads = -RecordedRange.numbers.upperBound...RecordedRange.numbers.upperBound

    mutating func record() throws -> (record: ExchangeRecord, payload: Int64) {
        let id = ExchangeID(try number(in: RecordedRange.numbers))
        let payload = try number(in: RowReader.payloads)
        let (kind, state) = (try value(ExchangeRecord.Kind.self), try value(ExchangeRecord.State.self))
        let flags = ExchangeRecord.Flags(rawValue: UInt32(try number(in: 0...Int64(UInt32.max))))
        let at = try number(in: RecordedRange.moments)
        let method = try text()
        let (scheme, host, port) = (try text(), try text(), Int(try number(in: 0...65_535)))
        let url = RequestURL(scheme: scheme, host: host, port: port, path: try text(), query: try optionalText())
        // These columns come before the client's connection, which the record's initializer requires.
        let status = Int(try number(in: 0...999))
        let versions = (try value(HTTPVersion.self), try optionalValue(HTTPVersion.self))
        let mediaType = try text()
        let client = ConnectionID(try number())
        var record = ExchangeRecord(
            id: id,
            kind: kind,
            startedAt: at,
            method: method,
            url: url,
            clientConnection: client
        )
        (record.state, record.flags, record.status, record.mediaType) = (state, flags, status, mediaType)
        (record.clientVersion, record.upstreamVersion) = versions
        record.upstreamConnection = try optionalNumber().map(ConnectionID.init)
        record.sizes.requestHead = try number()
        record.sizes.requestBody = try number()
        record.sizes.requestWire = try number()
        record.sizes.responseHead = try number()
        record.sizes.responseBody = try number()
        record.sizes.responseWire = try number()
        record.timings.blocked = try optionalNumber()
        record.timings.dns = try optionalNumber()
        record.timings.connect = try optionalNumber()
        record.timings.tls = try optionalNumber()
        record.timings.send = try optionalNumber()
        record.timings.wait = try optionalNumber()
        record.timings.receive = try optionalNumber()
        record.timings.total = try optionalNumber()
        record.failure = try failure()
        record.sentURL = try sentURL()
        record.tally.fromClient = try number()
        record.tally.fromServer = try number()
        let grpcStatus = try optionalNumber(in: Int64.min...Int64.max)
        let grpcMessage = try optionalText()
        record.grpc = grpcStatus.map { GRPCOutcome(status: Int($0), message: grpcMessage ?? "") }
        record.clientAddress = try optionalText()
        record.serverAddress = try optionalText()
        var extras = ExchangeRecord.Extras()
        extras.listeningMode = try optionalText()
        extras.process = try process()
        extras.origin = try optionalText()
        extras.masked = try optionalJSON([String].self) ?? []
        extras.annotation.comment = try optionalText()
        extras.annotation.colour = try optionalText()
        extras.annotation.deletedAt = try optionalNumber(in: RecordedRange.moments)
        record.extras = extras
        return (record, payload)
    }

    private mutating func process() throws -> ClientProcess? {
        let id = try optionalNumber(in: 0...Int64(Int32.max))
        let name = try optionalText()
        guard let id, let name else { return nil }
        return ClientProcess(id: Int32(id), name: name)
    }

    private mutating func failure() throws -> ExchangeFailure? {
        let name = try optionalText()
        let code = try name.map { name in
            guard let code = ExchangeFailure.Code(rawValue: name) else { throw damage("is \"\(name)\"") }
            return code
        }
        let message = try optionalText()
        let hint = try optionalText()
        return code.map { ExchangeFailure($0, message ?? "", hint: hint ?? "") }
    }

    private mutating func sentURL() throws -> RequestURL? {
        let scheme = try optionalText()
        let host = try optionalText()
        let port = try optionalNumber(in: 0...65_535)
        let path = try optionalText()
        let query = try optionalText()
        guard let scheme, let host, let port, let path else { return nil }
        return RequestURL(scheme: scheme, host: host, port: Int(port), path: path, query: query)
    }

    /// Skips the row's number, and does not read bodies.
    mutating func messages() throws -> ExchangeMessages {
        _ = try number(in: RowReader.payloads)
        var messages = ExchangeMessages()
        // Key paths would double the time.
        messages.requestHead = try optionalBytes()
        messages.requestHeadSent = try optionalBytes()
        messages.requestTrailers = try optionalBytes()
        messages.interimHeads = try optionalBytes()
        messages.responseHead = try optionalBytes()
        messages.responseHeadSent = try optionalBytes()
        messages.responseTrailers = try optionalBytes()
        messages.trace = try optionalJSON([TraceEntry].self) ?? []
        return messages
    }

    mutating func connection(_ known: inout KnownCertificates) throws -> ConnectionRecord {
        let (id, leg) = (ConnectionID(try number()), try value(ConnectionRecord.Leg.self))
        let opened = try number(in: RecordedRange.moments)
        let closed = try optionalNumber(in: RecordedRange.moments)
        let (local, peer) = (try text(), try text())
        var connection = ConnectionRecord(id: id, leg: leg, openedAt: opened, localAddress: local, peerAddress: peer)
        connection.closedAt = closed
        connection.dns = try optionalDuration()
        connection.connect = try optionalDuration()
        connection.handshake = try optionalDuration()
        let version = try optionalText()
        let cipher = try optionalText()
        let serverName = try optionalText()
        let applicationProtocol = try optionalText()
        let resumed = try optionalNumber(in: 0...1)
        let failure = try optionalText()
        let certificates = try optionalText().map { try known.chain($0) { try json($0) } } ?? []
        connection.proxy = try optionalText()
        let clientCertificate = try optionalJSON(ClientCertificateDetails.self)
        if let version, let cipher {
            connection.tls = TLSDetails(
                protocolVersion: version,
                cipherSuite: cipher,
                serverName: serverName,
                applicationProtocol: applicationProtocol,
                resumed: resumed == 1,
                peerCertificates: certificates,
                verificationFailure: failure
            )
            connection.tls?.clientCertificate = clientCertificate
        }
        return connection
    }

    mutating func run() throws -> SessionRun {
        let id = try number()
        let version = try text()
        let recorder = try text()
        guard let mode = RecorderConfiguration.Mode(rawValue: recorder) else { throw damage("is \"\(recorder)\"") }
        return SessionRun(
            id: id,
            sluiceVersion: version,
            mode: mode,
            startedAt: try number(in: RecordedRange.moments),
            endedAt: try optionalNumber(in: RecordedRange.moments),
            firstExchange: ExchangeID(try number()),
            notRecorded: try number(),
            droppedBytes: try number()
        )
    }

    /// A row without sources has the sources of the row before.
    mutating func rules(sourcesBefore: [ProfileSource] = []) throws -> StoredRules {
        StoredRules(
            number: try number(),
            at: try number(in: RecordedRange.moments),
            sources: try optionalJSON([ProfileSource].self) ?? sourcesBefore,
            switchedOff: try optionalJSON([String].self) ?? []
        )
    }

    mutating func optionalJSON<Value: Decodable>(_: Value.Type) throws -> Value? {
        try optionalText().map { try json($0) }
    }

    private func json<Value: Decodable>(_ text: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw damage("is not Sluice's JSON")
        }
    }
}

extension SessionIdentity {
    static func read(_ session: SessionDatabase) throws -> SessionIdentity {
        let found = try session.rows("SELECT \(Schema.session.columns) FROM session", of: "session") { row in
            row.skip()
            guard let identifier = UUID(uuidString: try row.text()) else { throw row.damage("is not a UUID") }
            return SessionIdentity(identifier: identifier, labels: try row.optionalJSON([String: String].self) ?? [:])
        }
        guard let identity = found.first else { throw SessionError.damaged(session.path, "it has no identifier") }
        return identity
    }
}

extension SessionSummary {
    static func read(_ session: SessionDatabase) throws -> SessionSummary {
        let found = try session.rows("SELECT \(Schema.summary.columns) FROM summary", of: "summary") { row in
            row.skip()
            var summary = SessionSummary()
            summary.exchanges = try row.number()
            summary.errors = try row.number()
            summary.requestBodyBytes = try row.number()
            summary.responseBodyBytes = try row.number()
            return summary
        }
        guard let summary = found.first else { throw SessionError.damaged(session.path, "it has no summary") }
        return summary
    }

    func write(in database: Database) throws {
        let counts: StatementArguments = [exchanges, errors, requestBodyBytes, responseBodyBytes]
        try database.execute(sql: SessionSummary.update, arguments: counts)
    }

    static let update =
        "UPDATE summary SET exchanges = ?, failures = ?, request_body_bytes = ?, response_body_bytes = ?"
}
