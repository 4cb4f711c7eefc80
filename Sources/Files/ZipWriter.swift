import CZip
import Foundation

/// Writes a zip of files (by libzip, in zip64 where it has to).
package enum ZipWriter {
    package struct Member: Sendable, Hashable {
        /// Its name in the zip.
        package var name: String
        /// The file with its bytes.
        package var file: String
        /// Whether it is put in as it is, without compression.
        package var isStored: Bool

        package init(_ name: String, file: String, isStored: Bool = false) {
            (self.name, self.file, self.isStored) = (name, file, isStored)
        }
    }

    /// Writes a zip to a path where there is nothing; only its owner may read what is unpacked of it.
    package static func write(_ members: [Member], to path: String) throws(FileError) {
        var code: CInt = 0
        guard let archive = zip_open(path, CInt(ZIP_CREATE | ZIP_EXCL), &code) else {
            throw FileError(path, "cannot be written", errno: errno)
        }
        func failure() -> FileError {
            let reason = String(cString: zip_error_strerror(zip_get_error(archive)))
            zip_discard(archive)
            return FileError(path, "cannot be written: \(reason)")
        }
        for member in members {
            guard let source = zip_source_file(archive, member.file, 0, -1) else { throw failure() }
            let index = zip_file_add(archive, member.name, source, ZIP_FL_ENC_UTF_8)
            guard index >= 0 else {
                zip_source_free(source)
                throw failure()
            }
            let mode = UInt32(S_IFREG | 0o600) << 16
            guard zip_set_file_compression(archive, UInt64(index), member.isStored ? 0 : 8, 0) == 0,
                zip_file_set_external_attributes(archive, UInt64(index), 0, UInt8(ZIP_OPSYS_UNIX), mode) == 0
            else { throw failure() }
        }
        guard zip_close(archive) == 0 else { throw failure() }
    }

    /// The members with those stored that compression would make as short as traps are, which no reader of ours opens.
    package static func storingTraps(_ members: [Member], in path: String) throws(FileError) -> [Member] {
        let reader = try ZipReader(path)
        return members.map { member in
            var member = member
            if let entry = reader[member.name], entry.isLikeTrap { member.isStored = true }
            return member
        }
    }
}
