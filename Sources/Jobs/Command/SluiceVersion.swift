import CBuild
import Content
import Expressions
import Files
import Foundation
import Recording
import Wire

package enum SluiceVersion {
    package static let current = "0.2.0"

    /// The commit of the build, with `-changed` if files differed from it; `nil` without a repository.
    package static var commit: String? {
        let commit = String(cString: sluice_commit())
        return commit.isEmpty ? nil : commit
    }

    /// For `sluice --version`: version, commit, and the versions of the libraries in use.
    package static var text: String {
        let libraries = [
            ("OpenSSL", LibraryVersions.openSSL), ("nghttp2", LibraryVersions.nghttp2), ("SQLite", sqliteVersion),
            ("PCRE2", RegularExpression.libraryVersion), ("libzip", ZipReader.libraryVersion),
            ("zlib", CodecVersions.zlib), ("brotli", CodecVersions.brotli), ("zstd", CodecVersions.zstd),
            ("libwebp", CodecVersions.webP),
        ]
        let lines = [("commit", commit ?? "not known: built outside a repository")] + libraries
        return
            (["sluice \(current)"] + lines.map { "\($0.0.padding(toLength: 9, withPad: " ", startingAt: 0))\($0.1)" })
            .joined(separator: "\n")
    }
}
