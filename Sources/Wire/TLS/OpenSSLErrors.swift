internal import COpenSSL

/// The errors of a failed OpenSSL call in the thread's queue, the root cause first.
struct OpenSSLErrors {
    /// A reason is unique within its library.
    struct Code: Hashable {
        var library: Int32
        var reason: Int32
    }

    private(set) var codes: [Code] = []
    private(set) var text = ""

    /// Empties the queue, which belongs to the thread: clear it before the call that may fail.
    static func take() -> OpenSSLErrors {
        var errors = OpenSSLErrors()
        while case let packed = ERR_get_error(), packed != 0 {
            errors.codes.append(Code(library: ERR_GET_LIB(packed), reason: ERR_GET_REASON(packed)))
            let words = ERR_reason_error_string(packed).map { String(cString: $0) } ?? "error \(packed)"
            errors.text += errors.text.isEmpty ? words : "; \(words)"
        }
        return errors
    }

    var tlsReasons: [Int32] { codes.filter { $0.library == ERR_LIB_SSL }.map(\.reason) }
}
