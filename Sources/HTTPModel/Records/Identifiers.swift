/// Names one exchange within a session; given in the order in which exchanges were opened, from 1.
public struct ExchangeID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The number.
    public let number: Int64

    /// Names an exchange by its number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The number in decimal.
    public var description: String { String(number) }

    /// Orders by age, oldest first.
    public static func < (left: ExchangeID, right: ExchangeID) -> Bool { left.number < right.number }
}

/// Names one connection, to a client or to a server, within a session.
public struct ConnectionID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The number.
    public let number: Int64

    /// Names a connection by its number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The number in decimal.
    public var description: String { String(number) }
}
