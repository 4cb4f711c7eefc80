import Content
package import HTTPModel
package import NIOCore

/// Takes the columns of a row in their order: those of the session file, or of a store. `nil` is NULL.
package protocol RowSink {
    mutating func bind(_ value: Int64)
    mutating func bind(_ value: Int64?)
    mutating func bind(_ value: String)
    mutating func bind(_ value: String?)
    mutating func bind(_ value: ByteBuffer?)
    /// A text in UTF-8.
    mutating func bind(text value: ByteBuffer?)
}

extension RowSink {
    mutating func bind(_ value: some FixedWidthInteger) { bind(Int64(truncatingIfNeeded: value)) }

    /// The columns of ``Schema/exchange``, without that of the payload if it is `nil`.
    package mutating func bind(_ record: ExchangeRecord, payload: Int64?) throws {
        bind(record.id.number)
        if let payload { bind(payload) }
        bind(record.kind.rawValue)
        bind(record.state.rawValue)
        bind(record.flags.rawValue)
        bind(record.startedAt)
        bind(record.method)
        bind(record.url.scheme)
        bind(record.url.host)
        bind(record.url.port)
        bind(record.url.path)
        bind(record.url.query)
        bind(record.status)
        bind(record.clientVersion.rawValue)
        bind((record.upstreamVersion?.rawValue).map(Int64.init))
        bind(record.mediaType)
        bind(record.clientConnection.number)
        bind(record.upstreamConnection?.number)
        // Key paths would take a tenth of the cost of recording an exchange.
        let (sizes, timings) = (record.sizes, record.timings)
        bind(sizes.requestHead)
        bind(sizes.requestBody)
        bind(sizes.requestWire)
        bind(sizes.responseHead)
        bind(sizes.responseBody)
        bind(sizes.responseWire)
        bind(timings.blocked)
        bind(timings.dns)
        bind(timings.connect)
        bind(timings.tls)
        bind(timings.send)
        bind(timings.wait)
        bind(timings.receive)
        bind(timings.total)
        bind(record.failure?.code.rawValue)
        bind(record.failure?.message)
        bind(record.failure?.hint)
        bind(record.sentURL?.scheme)
        bind(record.sentURL?.host)
        bind((record.sentURL?.port).map(Int64.init))
        bind(record.sentURL?.path)
        bind(record.sentURL?.query)
        bind(record.tally.fromClient)
        bind(record.tally.fromServer)
        bind((record.grpc?.status).map(Int64.init))
        bind(record.grpc?.message)
        bind(record.clientAddress)
        bind(record.serverAddress)
        let extras = record.extras
        bind(extras.listeningMode)
        bind((extras.process?.id).map(Int64.init))
        bind(extras.process?.name)
        bind(extras.origin)
        bind(text: try extras.masked.isEmpty ? nil : JSONWriter.names(extras.masked))
    }

    /// The columns of ``Schema/payload`` after the number and before the bodies.
    package mutating func bind(_ messages: ExchangeMessages) throws {
        bind(messages.requestHead)
        bind(messages.requestHeadSent)
        bind(messages.requestTrailers)
        bind(messages.interimHeads)
        bind(messages.responseHead)
        bind(messages.responseHeadSent)
        bind(messages.responseTrailers)
        bind(text: try JSONWriter.trace(messages.trace))
    }

    /// The columns of ``Schema/connection``.
    package mutating func bind(_ connection: ConnectionRecord) throws {
        bind(connection.id.number)
        bind(connection.leg.rawValue)
        bind(connection.openedAt)
        bind(connection.closedAt)
        bind(connection.localAddress)
        bind(connection.peerAddress)
        for time in [connection.dns, connection.connect, connection.handshake] { bind(time) }
        let tls = connection.tls
        for text in [tls?.protocolVersion, tls?.cipherSuite, tls?.serverName, tls?.applicationProtocol] {
            bind(text)
        }
        bind((tls?.resumed).map { $0 ? 1 : 0 })
        bind(tls?.verificationFailure)
        bind(text: try JSONWriter.certificates(tls?.peerCertificates ?? []))
    }

    /// The columns of ``Schema/route`` after the number.
    package mutating func bind(routeOf connection: ConnectionRecord) throws {
        bind(connection.proxy)
        bind(text: try connection.tls?.clientCertificate.map(JSONWriter.clientCertificate))
    }
}
