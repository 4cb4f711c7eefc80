import Files
import Foundation
import HTTPModel
import Rules

/// A profile's file on the disk.
enum ProfileFile {
    /// What is in a file; `nil` where there is none.
    ///
    /// - Throws: `ProfileError` where it is there and cannot be read.
    static func text(_ file: String) throws(ProfileError) -> String? {
        guard access(file, F_OK) == 0 else { return nil }
        return try ProfileSource.read(file: file).text
    }

    /// Writes a file whole or not at all; one that is there keeps its mode, and a link goes on leading to it.
    ///
    /// - Throws: ``ControlFailure`` that says why it cannot be written; the file is then as it was.
    static func write(_ text: String, to file: String) throws(ControlFailure) {
        do throws(FileFailure) {
            let output = try OutputFile(file, waits: false)
            try output.write(text)
            try output.finish()
        } catch {
            throw ControlFailure(error.description)
        }
    }
}
