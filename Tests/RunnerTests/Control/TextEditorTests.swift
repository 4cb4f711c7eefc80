import Foundation
import Support
import Testing

@testable import Jobs
@testable import Runner

// Among the real processes, since these, too, change what the signals do.
extension RealProcessTests {
    @Suite("The user's editor")
    struct TextEditorTests {
        @Test("gets a file that only the user can read, and its text comes back")
        func edit() async throws {
            let editor = try TextEditor("GET http://h/ HTTP/1.1\n", name: "12.1")
            defer { editor.remove() }
            let mode = try FileManager.default.attributesOfItem(atPath: editor.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(editor.path.contains("sluice-12.1-") && editor.path.hasSuffix(".http"))
            // With options, as people have them; VISUAL goes before EDITOR.
            let environment = ["VISUAL": "sed -i -e s/GET/PUT/", "EDITOR": "false"]
            let text = try await blocking { try editor.run(environment: environment) }
            #expect(text == .text("PUT http://h/ HTTP/1.1\n"))
            editor.remove()
            #expect(!FileManager.default.fileExists(atPath: editor.path))
        }

        @Test("that fails says that the text is not wanted; one that cannot be run is an error")
        func failure() async throws {
            let editor = try TextEditor("text", name: "1.1")
            defer { editor.remove() }
            for (command, words) in [("exit 3;", "ended with 3"), ("kill -9 $$;", "was ended by signal 9")] {
                let outcome = try await blocking { try editor.run(environment: ["EDITOR": command]) }
                #expect(outcome == .failed(words))
            }
            await #expect(throws: StartError.self) {
                try await blocking {
                    try editor.run(environment: ["VISUAL": "", "EDITOR": "/no/such/editor 2>/dev/null"])
                }
            }
            await #expect(throws: StartError.self) {
                try await blocking { try editor.run(environment: ["EDITOR": "rm"]) }
            }
        }
    }
}
