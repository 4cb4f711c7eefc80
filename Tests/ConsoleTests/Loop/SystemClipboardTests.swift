import Foundation
import Support
import Testing

@testable import Console

struct SystemClipboardTests {
    @Test(arguments: [[:], ["SSH_TTY": "/dev/pts/1"]])
    func `within tmux a copy becomes a buffer of tmux, which hands it to its terminal`(_ more: [String: String]) throws
    {
        // A program that ends without reading must not end the test, as in the console.
        signal(SIGPIPE, SIG_IGN)
        let scratch = try Scratch()
        let tmux = try scratch.write("tmux", "#!/bin/sh\necho \"$@\" > \"$OUT.arguments\"\ncat > \"$OUT\"\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tmux)
        let path = "\(scratch.path):/usr/bin:/bin"
        let environment = ["PATH": path, "TMUX": "/tmp/tmux,1,0", "OUT": scratch.path("out")]
        #expect(try SystemClipboard.copy("curl é", environment.merging(more) { $1 }) == .tool("tmux"))
        #expect(try String(contentsOfFile: scratch.path("out"), encoding: .utf8) == "curl é")
        #expect(try String(contentsOfFile: scratch.path("out.arguments"), encoding: .utf8) == "load-buffer -w -\n")
        // One that is too old for -w leaves it to the sequence.
        _ = try scratch.write("tmux", "#!/bin/sh\nexit 1\n")
        #expect(try SystemClipboard.copy("curl é", environment.merging(more) { $1 }) == .terminal)
    }
}
