import Foundation
import Support
import Testing

@testable import Console

/// Files that the console writes for its user.
struct ExportFileTests {
    @Test func `a folder that is not there is told, and not made`() throws {
        let scratch = try Scratch()
        let folder = scratch.path("missing")
        #expect {
            try ExportFile.write("text", to: "\(folder)/deeper/x.zip")
        } throws: {
            "\($0)".contains("No such file or directory")
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
        let path = scratch.path("x.txt")
        try ExportFile.write("text", to: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
    }
}
