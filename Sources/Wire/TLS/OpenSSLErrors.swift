internal import COpenSSL

/// The errors that one failed OpenSSL call left in the thread's queue, the earliest (the root cause) first.
struct OpenSSLErrors {
    /// A library number and a reason number, which is unique only within its library.
    struct Code: Hashable {
        var library: Int32
        var reason: Int32
    }

    private(set) var codes: [Code] = []
    private(set) var text = ""

    /// Takes all errors out of the queue.
    ///
    /// The queue belongs to the thread: clear it before the call that may fail.
    static func take() -> OpenSSLErrors {
        var errors = OpenSSLErrors()
        while true {
            let packed = ERR_get_error()
            if packed == 0 { return errors }
            errors.codes.append(Code(library: ERR_GET_LIB(packed), reason: ERR_GET_REASON(packed)))
            let words = ERR_reason_error_string(packed).map { String(cString: $0) } ?? "error \(packed)"
            errors.text += errors.text.isEmpty ? words : "; \(words)"
        }
    }

    /// The reason numbers of the TLS library itself.
    var tlsReasons: [Int32] { codes.filter { $0.library == ERR_LIB_SSL }.map(\.reason) }
}
