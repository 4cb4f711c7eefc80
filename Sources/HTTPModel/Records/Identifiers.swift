/// In the order of opening, from 1 in each session.
package struct ExchangeID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    package var description: String { String(number) }

    package static func < (left: ExchangeID, right: ExchangeID) -> Bool { left.number < right.number }
}

/// From 1 in each session.
package struct ConnectionID: Sendable, Hashable, Codable, CustomStringConvertible {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    package var description: String { String(number) }
}
