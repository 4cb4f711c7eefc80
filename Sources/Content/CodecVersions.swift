import CBrotli
import CWebP
import CZlib
import CZstd

/// The versions of the decoding libraries at run time. libjpeg-turbo does not report its version.
package enum CodecVersions {
    package static var zlib: String { String(cString: zlibVersion()) }
    package static var zstd: String { String(cString: ZSTD_versionString()) }

    /// Three numbers, of 8, 12 and 12 bits.
    package static var brotli: String {
        let version = BrotliDecoderVersion()
        return "\(version >> 24).\(version >> 12 & 0xFFF).\(version & 0xFFF)"
    }

    /// Three numbers, of 8 bits each.
    package static var webP: String {
        let version = WebPGetDecoderVersion()
        return "\(version >> 16 & 0xFF).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }
}
