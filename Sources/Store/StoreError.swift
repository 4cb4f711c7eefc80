package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// libpq is not installed.
        case library
        /// The address, an option or a name is wrong: nothing was tried.
        case address
        /// The server was not reached, or ended the connection: another attempt may succeed.
        case connection
        /// The store is not there, or was made by another version.
        case schema
        /// The server refused a statement.
        case refused
        /// A row has values that Sluice does not write.
        case damaged
    }

    package let code: Code
    package let message: String
    /// One sentence; may be empty.
    package let hint: String

    package init(_ code: Code, _ message: String, hint: String = "") {
        (self.code, self.message, self.hint) = (code, message, hint)
    }

    package var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}
