import Files
import Foundation
import HTTPModel
import Rules

/// A profile's file on the disk.
enum ProfileFile {
    /// The text of a file; `nil` where there is none.
    static func text(_ file: String) throws(ProfileError) -> String? {
        guard access(file, F_OK) == 0 else { return nil }
        return try ProfileSource.read(file: file).text
    }

    /// Writes a file whole or not at all; one that is there keeps its mode, and a link goes on leading to it.
    static func write(_ text: String, to file: String) throws(ControlError) {
        do throws(FileError) {
            let output = try OutputFile(file, waits: false)
            try output.write(text)
            try output.finish()
        } catch {
            throw ControlError(error.description)
        }
    }
}
