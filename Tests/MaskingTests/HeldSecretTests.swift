import Content
import Foundation
import Testing

@testable import Masking

@Suite("What a secret stands for is a secret elsewhere, too")
struct HeldSecretTests {
    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    private func hexadecimal(_ text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }

    @Test("The password of Basic, in a body as in a head")
    func basic() {
        let credentials = base64("admin:hunter22xyz")
        for text in [
            #"{"h": "Basic \#(credentials)", "note": "hunter22xyz"}"#,
            #"{"headers": [["Authorization", "Basic \#(credentials)"]], "x": "hunter22xyz"}"#,
            #"{"auths": {"r.example": {"auth": "\#(credentials)"}}, "x": "hunter22xyz"}"#,
            "//r.example/:_auth=\(credentials)\nhunter22xyz\n",
        ] {
            #expect(
                Masked.text(text)
                    == text.replacing(credentials, with: "sluice-credential-1")
                    .replacing("hunter22xyz", with: "sluice-password-1")
            )
        }
        let head = "GET / HTTP/1.1\r\nAuthorization: Basic \(credentials)\r\nX-Note: hunter22xyz\r\n\r\n"
        #expect(
            Masked.head(head)
                == head.replacing(credentials, with: "sluice-credential-1")
                .replacing("hunter22xyz", with: "sluice-password-1")
        )
    }

    @Test("`auth` that is no credentials stays")
    func auth() {
        for value in ["none", "oauth2", "aGVsbG8gd29ybGQ=", "bearer-token", "https://auth.example/login"] {
            let text = #"{"auth": "\#(value)", "_auth": "\#(value)"}"#
            #expect(Masked.text(text) == text)
        }
    }

    @Test("A value in base64 or hexadecimal and its text have one placeholder")
    func readings() {
        let wide = Data(Array("s3cr3t-of-mine!".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        for coded in [
            base64("s3cr3t-of-mine!"), base64("s3cr3t-of-mine!\n"), base64(base64("s3cr3t-of-mine!")),
            hexadecimal("s3cr3t-of-mine!"), wide.base64EncodedString(),
        ] {
            let text = #"{"data": {"password": "\#(coded)"}, "log": "with s3cr3t-of-mine! in it"}"#
            #expect(
                Masked.text(text)
                    == #"{"data": {"password": "sluice-password-1"}, "log": "with sluice-password-1 in it"}"#
            )
            let other = #"{"log": "with s3cr3t-of-mine! in it", "password": "\#(coded)"}"#
            #expect(
                Masked.text(other) == #"{"log": "with sluice-password-1 in it", "password": "sluice-password-1"}"#
            )
        }
    }

    @Test("Numbers, words and objects in base64 stay where they stand by themselves")
    func ordinary() {
        for content in ["123456789", "password", "/login/reset", #"{"a":1}"#, "User:12345678", "https://h.example/x"] {
            let text =
                #"{"token": "\#(base64(content))", "x": [\#(content == #"{"a":1}"# ? content : "\"\(content)\"")]}"#
            #expect(Masked.text(text) == text.replacing(base64(content), with: "sluice-token-1"))
        }
    }

    @Test("The digest of a signature")
    func signatures() {
        let digest = "5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd"
        for field in [
            "X-Hub-Signature-256: sha256=\(digest)", "X-Slack-Signature: v0=\(digest)", "X-Signature: \(digest)",
            "Signature: sig1=:\(digest):",
        ] {
            let masked = Masked.head("POST / HTTP/1.1\r\n\(field)\r\nX-Note: is \(digest).\r\n\r\n")
            #expect(masked.hasSuffix("\r\nX-Note: is sluice-signature-1.\r\n\r\n"), "\(masked)")
            #expect(!masked.contains(digest))
        }
        let other = String(digest.reversed())
        let masked = Masked.head(
            "POST / HTTP/1.1\r\nStripe-Signature: t=1492774577,v1=\(digest),v0=\(other)\r\nX-Note: \(other) 1492774577\r\n\r\n"
        )
        #expect(!masked.contains(digest) && !masked.contains(other) && masked.contains(" 1492774577\r\n"))
        #expect(
            Masked.text(#"{"signature": "t=1492774577,v1=\#(digest)", "x": "\#(digest)"}"#)
                == #"{"signature": "sluice-signature-1", "x": "sluice-signature-1"}"#
        )
    }

    @Test("A script has a variable for each of both forms")
    func variables() throws {
        let coded = base64("s3cr3t-of-mine!")
        let text = #"{"password": "\#(coded)", "x": "s3cr3t-of-mine!"}"#
        let mask = TextMask()
        _ = mask.masked(text, .text)
        mask.endCollecting()
        mask.book.isForPrograms = true
        let masked = mask.book.unmarked(try #require(mask.masked(text, .text)))
        #expect(masked.contains("sluice-password-1\""))
        #expect(masked.components(separatedBy: "sluice-password-1\"").count == 2, "\(masked)")
    }
}
