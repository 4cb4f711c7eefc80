import CNGHTTP2
import COpenSSL

package enum LibraryVersions {
    /// Such as `OpenSSL 3.0.17 1 Jul 2025`.
    package static var openSSL: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    package static var nghttp2: String { String(cString: nghttp2_version(0).pointee.version_str) }
}
