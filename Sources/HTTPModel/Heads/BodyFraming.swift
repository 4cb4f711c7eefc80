/// How the end of a message's body is known on one leg (RFC 9112 §6).
package enum BodyFraming: Sendable, Hashable {
    case none
    /// The body has this many bytes (`Content-Length`, or an HTTP/2 stream that announced it).
    case length(Int64)
    /// The body ends with the last chunk (`Transfer-Encoding: chunked`), or with END_STREAM in HTTP/2.
    case chunked
    /// The body ends when the connection does; responses only.
    case untilClose
}
