package import HTTPModel

/// Whether a connection may carry another message after one (RFC 9112 §9.3).
package enum Persistence {
    /// `Proxy-Connection: close` ends the connection, but `keep-alive` there does not keep it (RFC 9112 §C.2.2).
    package static func keepsAlive(_ head: RequestHead) -> Bool {
        keepsAlive(head.fields, head.version) && !head.fields.contains(.proxyConnection, token: close)
    }

    package static func keepsAlive(_ head: ResponseHead, framing: BodyFraming) -> Bool {
        framing != .untilClose && keepsAlive(head.fields, head.version)
    }

    private static func keepsAlive(_ fields: FieldSection, _ version: HTTPVersion) -> Bool {
        if fields.contains(.connection, token: close) { return false }
        return version != .http10 || fields.contains(.connection, token: FieldName.keepAlive)
    }

    private static let close: FieldName = "close"
}
