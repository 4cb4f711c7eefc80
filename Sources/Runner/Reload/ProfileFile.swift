import Files
import Foundation
import HTTPModel
import Rules

enum ProfileFile {
    /// `nil` if there is no file.
    static func text(_ file: String) throws(ProfileError) -> String? {
        guard access(file, F_OK) == 0 else { return nil }
        return try ProfileSource.read(file: file).text
    }

    /// Writes a file as a whole or not at all; an existing one keeps its mode, and a link its target.
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
