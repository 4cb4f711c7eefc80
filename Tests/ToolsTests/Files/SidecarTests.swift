import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Sidecars")
struct SidecarTests {
    @Test(
        "A status comes in four forms",
        arguments: [
            ("404", 404, nil), ("404 Gone fishing", 404, "Gone fishing"), ("HTTP/1.1 503 Not Now", 503, "Not Now"),
            ("status: 201", 201, nil), ("Status: 201 Made", 201, "Made"), ("http/2 404", 404, nil),
            ("# a comment\n\nX: y\n404", 404, nil),
        ] as [(String, Int, String?)]
    )
    func status(text: String, status: Int, reason: String?) {
        let sidecar = Sidecar(text.utf8)
        #expect(sidecar.status == status)
        #expect(sidecar.reason == reason)
        #expect(sidecar.problems.isEmpty)
    }

    @Test("Fields keep order, case and repetition; what is none is left out and named")
    func fields() {
        let sidecar = Sidecar(
            """
            Content-Type:  text/x-custom ; a=b
            Set-Cookie: a=1
            set-cookie: b=2\r
            X-Empty:
            Content-Length: 5
            no colon here
            X Y: z
            status: 99
            X-Bell: a\u{7}b
            """.utf8
        )
        #expect(
            sidecar.fields.map { "\($0.name): \($0.value)" } == [
                "Content-Type: text/x-custom ; a=b", "Set-Cookie: a=1", "set-cookie: b=2", "X-Empty: ",
            ]
        )
        #expect(
            sidecar.problems == [
                "line 5 has Content-Length, which only Sluice sets", "line 6 is neither a status nor 'Name: value'",
                "line 7 has 'X Y', which cannot be the name of a header", "line 8 has no status from 200 to 599",
                "line 9 has a control character in the value of X-Bell",
            ]
        )
    }
}
