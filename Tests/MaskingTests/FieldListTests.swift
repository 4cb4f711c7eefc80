import Testing

@testable import Masking

@Suite("Fields of heads in texts, long names and tags, and what stands under a secret's name and is none")
struct FieldListTests {
    @Test("Cookies in a list of fields, each by itself")
    func cookies() {
        let cookie = "sluice-cookie-"
        #expect(
            Masked.text(#"{"headers":{"Cookie":"foo=Xab1; sid=\"hun\"; theme=dark"},"cookie":"accepted"}"#)
                == #"{"headers":{"Cookie":"foo=\#(cookie)1; sid=\"sluice-session-1\"; theme=\#(cookie)2"},"cookie":"accepted"}"#
        )
        let attributes = "Path=/; Expires=Thu, 01 Jan 2026 00:00:00 GMT; HttpOnly"
        #expect(
            Masked.text(#"{"set-cookie":["a=b1c2; \#(attributes)","c=d3"]}"#)
                == #"{"set-cookie":["a=\#(cookie)1; \#(attributes)","c=\#(cookie)2"]}"#
        )
        #expect(
            Masked.text(#"[{"name":"Set-Cookie","value":"a=b1c2; Path=/, c=d3"}]"#)
                == #"[{"name":"Set-Cookie","value":"a=\#(cookie)1; Path=/, c=\#(cookie)2"}]"#
        )
        #expect(Masked.text("curl -H 'Cookie: a=b1' x") == "curl -H 'Cookie: a=\(cookie)1' x")
        #expect(Masked.text("Host: h\nCookie: a=b1\n") == "Host: h\nCookie: a=\(cookie)1\n")
        #expect(
            Masked.text(#"{"cookie":[{"name":"sid","value":"abcd"}]}"#)
                == #"{"cookie":[{"name":"sid","value":"sluice-session-1"}]}"#
        )
    }

    @Test("JSON in a string under a secret's name is looked at")
    func inner() {
        #expect(
            Masked.text(#"{"credentials":"{\"password\":\"ab\"}"}"#)
                == #"{"credentials":"{\"password\":\"sluice-password-1\"}"}"#
        )
    }

    @Test("The ending of a name that is longer than any, and a tag that is")
    func long() {
        let name = "spring.security.oauth2.client.registration.my-company-identity-provider-eu.client-secret"
        #expect(Masked.text(#"{"\#(name)":"hunter22"}"#) == #"{"\#(name)":"sluice-token-1"}"#)
        let attribute = "xmlns:w=\"http://h/" + String(repeating: "a", count: 400) + "\""
        #expect(
            Masked.text("<w:Password \(attribute)>ab</w:Password>", .markup)
                == "<w:Password \(attribute)>sluice-password-1</w:Password>"
        )
        #expect(SecretNames(except: ["*client-secret"]).kind(of: name.utf8) == nil)
    }

    @Test("Comments, instructions and empty sections before the text of an element")
    func sections() {
        for before in ["<!-- a > b -->", "<?a b?>", "<![CDATA[]]>", " <!-- a --> <?b?>\n<![CDATA[ ]]>"] {
            for text in ["ab12", "<![CDATA[ab12]]>"] {
                #expect(
                    Masked.text("<password>\(before)\(text)</password><b>x</b>", .markup)
                        == "<password>\(before)\(text.replacing("ab12", with: "sluice-password-1"))</password><b>x</b>"
                )
            }
        }
    }

    @Test("Parts of a form whose lines end with a line feed alone")
    func lineFeeds() {
        let text =
            "--b\nContent-Disposition: form-data; name=\"password\"\n\nab12\n--b\nContent-Disposition: form-data\n\nx"
        #expect(Masked.text(text, .multipart) == text.replacing("ab12", with: "sluice-password-1"))
    }

    @Test("Tickets of a list of faults, and words, are none; tickets made by chance are")
    func ordinary() {
        for text in [#"{"ticket":"OPS-1234"}"#, "<ticket>OPS-1234</ticket>"] { #expect(Masked.text(text) == text) }
        #expect(Masked.text(#"{"ticket":"\#(chance)"}"#) == #"{"ticket":"sluice-token-1"}"#)
        for field in [
            "X-Auth: none", "X-Signature: none", "X-Credentials: include", "X-Ticket: OPS-1234", "Ticket: 7",
            "Authorization: Bearer undefined",
        ] { #expect(Masked.head("GET / HTTP/1.1\r\n\(field)\r\n\r\n") == "GET / HTTP/1.1\r\n\(field)\r\n\r\n") }
        #expect(Masked.head("GET / HTTP/1.1\r\nX-Ticket: \(chance)\r\n\r\n").contains("X-Ticket: sluice-token-1"))
    }

    @Test("The signature of a hook by its name, in a head and in a text")
    func hook() {
        let digest = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        #expect(
            Masked.head("POST / HTTP/1.1\r\nX-Hub-Signature-256: \(digest)\r\n\r\n")
                == "POST / HTTP/1.1\r\nX-Hub-Signature-256: sluice-signature-1\r\n\r\n"
        )
        #expect(
            Masked.text(#"{"X-Hub-Signature-256":"\#(digest)"}"#) == #"{"X-Hub-Signature-256":"sluice-signature-1"}"#
        )
    }
}
