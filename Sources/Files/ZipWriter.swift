import CZip
import Foundation

package enum ZipWriter {
    package struct Member: Sendable, Hashable {
        package var name: String
        package var file: String
        package var isStored: Bool

        package init(_ name: String, file: String, isStored: Bool = false) {
            (self.name, self.file, self.isStored) = (name, file, isStored)
        }
    }

    /// Writes a new zip whose entries only their owner may read. `onProgress` gets parts from 0 to 1; an error that it
    /// throws ends the work without a file.
    package static func write(
        _ members: [Member],
        to path: String,
        onProgress: @escaping (Double) throws -> Void = { _ in }
    ) throws {
        let progress = Progress(onProgress)
        try withExtendedLifetime(progress) { try write(members, to: path, progress) }
    }

    private static func write(_ members: [Member], to path: String, _ progress: Progress) throws {
        var code: CInt = 0
        guard let archive = zip_open(path, CInt(ZIP_CREATE | ZIP_EXCL), &code) else {
            var error = zip_error_t()
            zip_error_init_with_code(&error, code)
            defer { zip_error_fini(&error) }
            throw FileError(path, "cannot be written: \(String(cString: zip_error_strerror(&error)))")
        }
        func failure() -> any Error {
            let reason = String(cString: zip_error_strerror(zip_get_error(archive)))
            zip_discard(archive)
            return progress.error ?? FileError(path, "cannot be written: \(reason)")
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
        guard progress.register(archive), zip_close(archive) == 0 else { throw failure() }
    }

    private final class Progress {
        private let onProgress: (Double) throws -> Void
        private var part = 0.0
        private(set) var error: (any Error)?

        init(_ onProgress: @escaping (Double) throws -> Void) { self.onProgress = onProgress }

        func register(_ archive: OpaquePointer) -> Bool {
            let own = Unmanaged.passUnretained(self).toOpaque()
            let isTold = zip_register_progress_callback_with_state(
                archive,
                0.001,
                { _, part, state in state.map { Progress.of($0).part = part } },
                nil,
                own
            )
            let isAsked = zip_register_cancel_callback_with_state(
                archive,
                { _, state in state.map { Progress.of($0).goesOn() } ?? true ? 0 : 1 },
                nil,
                own
            )
            return isTold == 0 && isAsked == 0
        }

        private static func of(_ state: UnsafeMutableRawPointer) -> Progress {
            Unmanaged<Progress>.fromOpaque(state).takeUnretainedValue()
        }

        private func goesOn() -> Bool {
            do {
                try onProgress(part)
            } catch {
                self.error = self.error ?? error
            }
            return error == nil
        }
    }

    /// Members whose compression ratio would look like a zip bomb are stored uncompressed.
    package static func storingTraps(_ members: [Member], in path: String) throws(FileError) -> [Member] {
        let reader = try ZipReader(path)
        return members.map { member in
            var member = member
            if let entry = reader[member.name], entry.isLikeTrap { member.isStored = true }
            return member
        }
    }
}
