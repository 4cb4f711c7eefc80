/// Names one exchange within a session; given in the order in which exchanges were opened, from 1.
package struct ExchangeID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    package var description: String { String(number) }

    /// Oldest first.
    package static func < (left: ExchangeID, right: ExchangeID) -> Bool { left.number < right.number }
}

/// Names one connection, to a client or to a server, within a session.
package struct ConnectionID: Sendable, Hashable, Codable, CustomStringConvertible {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    package var description: String { String(number) }
}
