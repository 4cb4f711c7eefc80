/// How the end of a body is known on one leg (RFC 9112 §6).
package enum BodyFraming: Sendable, Hashable {
    case none
    case length(Int64)
    /// Up to the last chunk, or END_STREAM in HTTP/2.
    case chunked
    /// Up to the end of the connection; responses only.
    case untilClose
}
