import HTTPModel

/// Why the console cannot do something.
package struct ConsoleError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to try.
    package let description: String

    package init(_ description: String) { self.description = description }
    init(isMissing id: ExchangeID) { description = "Exchange \(id) is not in this session." }
}
