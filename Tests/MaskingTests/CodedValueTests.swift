import Content
import Foundation
import NIOCore
import Testing

@testable import Masking

@Suite("One secret in several codings has one placeholder")
struct CodedValueTests {
    @Test("Only what is written as a placeholder is one")
    func placeholders() {
        for value in ["sluice-mill-hunter22", "sluice-token-1x9aB7cD", "sluice-token-", "sluice-token-1e", "sluice-"] {
            #expect(Masked.text(#"{"password":"\#(value)"}"#) == #"{"password":"sluice-password-1"}"#)
        }
        for value in ["sluice-token-1", "sluice-private-key-12", "sluice-token-1e2", "sluice-token-1---"] {
            #expect(Masked.text(#"{"password":"\#(value)"}"#) == #"{"password":"\#(value)"}"#)
        }
        #expect(
            Masked.head("GET / HTTP/1.1\r\nAuthorization: Bearer sluice-prod-abc123def456\r\n\r\n")
                == "GET / HTTP/1.1\r\nAuthorization: Bearer sluice-token-1\r\n\r\n"
        )
    }

    @Test("A scheme before the secret is none of it, in any place")
    func schemes() {
        let head =
            "GET /?token=Bearer%20\(chance)&access_token=Bearer+\(chance) HTTP/1.1\r\nAuthorization: Bearer \(chance)\r\n"
            + "X-Auth-Token: Bearer \(chance)\r\nCookie: auth=Bearer%20\(chance); b=Bearer+\(chance)\r\n\r\n"
        #expect(Masked.head(head) == head.replacing(chance, with: "sluice-token-1"))
        #expect(Masked.text("password=key+words", .form) == "password=sluice-password-1")
    }

    @Test("The full stop behind a URL is none of its last value")
    func fullStop() {
        let text = "see https://h/x?access_token=\(chance). And {\"access_token\":\"\(chance)\"}"
        #expect(Masked.text(text) == text.replacing(chance, with: "sluice-token-1"))
        #expect(Masked.text("PASSWORD=hunter22!\n") == "PASSWORD=sluice-password-1\n")
    }

    @Test("A quote that is escaped within quotes that are encoded")
    func quotes() {
        #expect(
            Masked.text("v=%7B%22password%22%3A%22ab%5C%22cdef%5C%5C%22%2C%22a%22%3A1%7D", .form)
                == "v=%7B%22password%22%3A%22sluice-password-1%22%2C%22a%22%3A1%7D"
        )
        #expect(
            Masked.text(#"<i x="{&quot;password&quot;:&quot;ab\&quot;cdef&quot;,&quot;a&quot;:1}">"#, .markup)
                == #"<i x="{&quot;password&quot;:&quot;sluice-password-1&quot;,&quot;a&quot;:1}">"#
        )
        #expect(Masked.text("password: 'it''s a ''secret'''\nuser: x") == "password: 'sluice-password-1'\nuser: x")
        #expect(Masked.text("password: ''\nuser: ''") == "password: ''\nuser: ''")
    }

    @Test("A secret is known without the coding that it stands in")
    func known() {
        for (text, plain, syntax) in [
            (#"{"password":"ab\/cd%3Defghijk"}"#, "ab/cd=efghijk", ScanSyntax.text),
            ("<password>ab&amp;cde&#x2B;fgh&#45;ij</password>", "ab&cde+fgh-ij", .markup),
            ("v=%7B%22password%22%3A%22ab%5C%22cdefghij%22%7D", #"ab"cdefghij"#, .form),
            ("password: 'it''s-a-secret'", "it's-a-secret", .text),
        ] {
            let mask = TextMask()
            _ = mask.masked(text, syntax)
            mask.endCollecting()
            #expect(mask.masked("so \(plain) is", .text) == "so sluice-password-1 is", "\(text)")
        }
    }

    @Test("Found again in codings one inside another, a secret has its own number, and so have two of them")
    func numbers() throws {
        func packed(_ text: String) throws -> String {
            let bytes = try ContentEncoder.encode(ByteBuffer(string: text), codings: [.gzip])
            return Data(bytes.readableBytesView).base64EncodedString()
        }
        func percent(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }
        let inner: [(String) throws -> String] = [
            { $0 }, { Data("?>~ bob:\($0) ~>??ÿ~>".utf8).base64EncodedString() },
            { Data($0.utf8).base64EncodedString() },
            { Data(Data("a\($0)".utf8).base64EncodedString().utf8).base64EncodedString() }, { try packed("x \($0)") },
            {
                Data("\(String(repeating: "w ", count: 50))\($0)\(String(repeating: " z", count: 50))".utf8)
                    .base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn])
            },
        ]
        let outer: [(String) -> String] = [
            { $0 }, percent, { percent(percent($0)) }, { $0.replacing("/", with: "\\/").replacing("\r", with: "\\n") },
            { $0.replacing("+", with: "\\u002B").replacing("\r", with: "\\r\\n").replacing("=", with: "\\u003d") },
            { $0.replacing("+", with: "&#43;").replacing("/", with: "&#x2F;").replacing("\r", with: "&#13;\n") },
        ]
        for (name, secret) in [("password", "GingerWalrus77"), ("token", "Q/x+9=Zk3hd72Lm4")] {
            for (place, code) in inner.enumerated() {
                for (form, write) in outer.enumerated() {
                    let mask = TextMask()
                    let text = "a=1&q=\(write(try code(secret)))&b=2"
                    _ = mask.masked("{\"\(name)\":\"\(secret)\",\"secret\":\"Another-Secret-42\"}", .text)
                    for syntax in [ScanSyntax.form, .text] { _ = mask.masked(text, syntax) }
                    mask.endCollecting()
                    for syntax in [ScanSyntax.form, .text] {
                        let masked = mask.masked(text, syntax) ?? text
                        #expect(masked.contains("sluice-\(name)-1"), "\(place) \(form) \(masked)")
                    }
                }
            }
        }
    }

    @Test("In base64 whose padding is wrong, too")
    func padding() {
        let digits = Data([UInt8](repeating: 0xFE, count: 9) + Array("so \(chance) is".utf8) + [0xFF, 0xFF])
            .base64EncodedString()
        #expect(!digits.hasSuffix("="))
        #expect(Masked.text("x \(digits)A", knowing: [chance]) == "x sluice-token-1")
        for padding in ["", "=", "==", "==="] {
            #expect(Masked.text("x \(digits)\(padding) y", knowing: [chance]) == "x sluice-token-1 y")
        }
    }
}
