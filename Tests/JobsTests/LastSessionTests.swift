import Foundation
import Support
import Testing

@testable import Jobs

@Suite struct LastSessionTests {
    @Test("The last session is that of the last run, whether it was given a name or not")
    func last() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let state = scratch.path("state")
        let named = try scratch.write("named.sluice", "")
        #expect(StandardPaths.lastSession(in: state) == nil)
        StandardPaths.rememberSession(named, in: state)
        #expect(StandardPaths.lastSession(in: state) == named)
        try scratch.makeDirectory("state/sessions")
        let unnamed = try scratch.write("state/sessions/2026-01-02T03-04-05.sluice", "")
        #expect(StandardPaths.lastSession(in: state) == named)
        StandardPaths.rememberSession(unnamed, in: state)
        #expect(StandardPaths.lastSession(in: state) == unnamed)
        StandardPaths.rememberSession(named, in: state)
        #expect(StandardPaths.lastSession(in: state) == named)
        try FileManager.default.removeItem(atPath: named)
        #expect(StandardPaths.lastSession(in: state) == unnamed)
    }
}
