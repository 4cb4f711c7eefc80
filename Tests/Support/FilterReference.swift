package import Content
package import HTTPModel
package import NIOCore

extension Filter {
    /// Whether an exchange that was read whole passes, said in the plainest way: what the compiled condition is compared
    /// with.
    ///
    /// - Parameter places: The values of the exchange at a place.
    package func matches(
        _ exchange: RecordedExchange,
        places: (Place) -> [PlaceValue] = { _ in [] },
        body: (BodySide) -> ByteBuffer?
    ) -> Bool {
        root.matches(exchange) { test in
            guard case .place(let test) = test else { return test.matches(exchange, body) }
            return places(test.place).contains { value in value.bytes.withUnsafeBufferPointer { test.matches($0) } }
        }
    }
}

extension FilterNode {
    fileprivate func matches(_ exchange: RecordedExchange, _ holds: (FilterTest) -> Bool) -> Bool {
        switch self {
        case .everything: true
        case .term(let term): term.tests.contains { holds($0) }
        case .not(let operand): !operand.matches(exchange, holds)
        case .and(let operands): operands.allSatisfy { $0.matches(exchange, holds) }
        case .or(let operands): operands.contains { $0.matches(exchange, holds) }
        }
    }
}

extension FilterTest {
    fileprivate func matches(_ exchange: RecordedExchange, _ body: (BodySide) -> ByteBuffer?) -> Bool {
        switch self {
        case .address(let leg, let glob):
            guard let connection = leg == .client ? exchange.client : exchange.upstream else { return false }
            return FilterTest.matchesAddress(connection.peerAddress, glob)
        case .matches(.field(let side, let name), let pattern):
            return Self.sections(of: exchange.messages, side).contains { section in
                section.contains { field in
                    name.matches(field.nameBytes)
                        && Array(field.valueBytes).withUnsafeBufferPointer { pattern.matches($0) }
                }
            }
        case .matches(.body(let side), let pattern):
            return Self.bodies(side, exchange, body).contains { bytes in
                Array(bytes.readableBytesView).withUnsafeBufferPointer { pattern.matches($0) }
            }
        default:
            return decides(exchange.record) == true
        }
    }

    /// The bodies of a side, as received and as sent.
    private static func bodies(
        _ side: Side,
        _ exchange: RecordedExchange,
        _ body: (BodySide) -> ByteBuffer?
    ) -> [ByteBuffer] {
        var sides: [BodySide] = side == .response ? [] : [.requestReceived]
        if side != .response, exchange.record.flags.contains(.requestChanged) { sides.append(.requestSent) }
        if side != .request { sides.append(.responseReceived) }
        if side != .request, exchange.record.flags.contains(.responseChanged) { sides.append(.responseSent) }
        return sides.compactMap(body)
    }

    /// The fields of all heads and trailers of a side, as received and as sent.
    private static func sections(of messages: ExchangeMessages, _ side: Side) -> [FieldSection] {
        var sections: [FieldSection?] = []
        if side != .response {
            sections += [messages.requestHead, messages.requestHeadSent].map {
                $0.flatMap(StoredHead.request)?.fields
            }
            sections.append(messages.requestTrailers.map(StoredHead.fields))
        }
        if side != .request {
            sections += [messages.responseHead, messages.responseHeadSent].map {
                $0.flatMap(StoredHead.response)?.fields
            }
            sections.append(messages.responseTrailers.map(StoredHead.fields))
        }
        return sections.compactMap(\.self)
    }
}
