import Support
import Testing

@Suite("Dialogue helper")
struct DialogueTests {
    @Test("A dialogue that is not finished is an issue")
    func unfinished() {
        withKnownIssue {
            _ = Dialogue()
        } matching: {
            $0.comments.contains { $0.rawValue.contains("not finished") }
        }
    }

    @Test("A wrong expectation is an issue that shows the difference")
    func difference() {
        withKnownIssue {
            let dialogue = Dialogue()
            dialogue.request()
            dialogue.expect("connect http://example.com:81", "stop client")
            dialogue.leaveOpen()
        } matching: {
            $0.comments.contains {
                $0.rawValue.contains("- connect http://example.com:81\n+ connect http://example.com:80")
            }
        }
    }

    @Test("An effect that nobody expected is an issue at the next event")
    func unexpected() {
        withKnownIssue {
            let dialogue = Dialogue()
            dialogue.request()
            dialogue.clientGone()
            dialogue.expect("abandon", "abort", "finished")
            dialogue.finish()
        } matching: {
            $0.comments.contains { $0.rawValue.contains("nobody expected") }
        }
    }

    @Test("An exchange that is not over at the end is an issue")
    func notOver() {
        withKnownIssue {
            let dialogue = Dialogue()
            dialogue.request()
            dialogue.expect("connect http://example.com:80", "stop client")
            dialogue.finish()
        }
    }
}
