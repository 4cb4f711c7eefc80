import Foundation
import Testing

@testable import Masking

@Suite("Secrets in URLs, names with indices, attributes and folded cookies")
struct EncodedPlaceTests {
    @Test("User and password of a URL that is percent-encoded, once and twice")
    func userInformation() {
        for (before, after) in [
            ("url=https%3A%2F%2Fbob%3A", "%40git.example.com%2Fr"),
            ("dsn=postgres%3a%2f%2fbob%3a", "%40db.example.com%2fr"),
            ("url=https%253A%252F%252Fbob%253A", "%2540git.example.com%252Fr"), ("url=https%3A//bob:", "@h.example/r"),
        ] {
            for syntax in [ScanSyntax.form, .text, .field] {
                let (start, end) = syntax == .form ? ("a=1&", "&b=2") : ("http://h/x?", "&b=2")
                #expect(
                    Masked.text(start + before + "MapleOtter42" + after + end, syntax)
                        == start + before + "sluice-password-1" + after + end
                )
            }
        }
        #expect(
            Masked.text("u=https%3A%2F%2Fb%3AMaple%2540Otter%40h%2F&x=Maple%40Otter", .form)
                == "u=https%3A%2F%2Fb%3Asluice-password-1%40h%2F&x=sluice-password-1"
        )
        for text in [
            "url=https%3A%2F%2Fgit.example.com%3A8080%2Fa%40b", "url=https%3A%2F%2Fbob%40h.example%2F",
            "t=12%3A30%2F%2F",
            "x=%3A%2F%2F", "x=%3A%2F%2Fa%3A%40", "a%3A//",
        ] { #expect(Masked.text(text, .form) == text) }
    }

    @Test(
        "Names with an index",
        arguments: ["token[]", "token[0]", "password%5B%5D", "data[User][password][0]", "a%5Bpassword%5D%5b12%5d"]
    )
    func indices(name: String) {
        let kind = name.contains("token") ? "token" : "password"
        #expect(Masked.text("a=1&\(name)=Maple-42&b", .form) == "a=1&\(name)=sluice-\(kind)-1&b")
        #expect(Masked.text("/x?\(name)=Maple-42&b", .field) == "/x?\(name)=sluice-\(kind)-1&b")
    }

    @Test("Other names with an index stay", arguments: ["a[]", "[0]", "[]", "%5B%5D", "ids[0][1]", "token[a]", "x%5D"])
    func otherIndices(name: String) { #expect(Masked.text("\(name)=Maple-42", .form) == "\(name)=Maple-42") }

    @Test(
        "A quotation mark of an attribute, however it is written",
        arguments: ["&quot;", "&#34;", "&#x22;", "&#X22;", "&#034;", "&#x0022;"]
    )
    func entities(quote: String) {
        let text =
            #"<div data-props="{"#
            + "password:MapleOtter42,a:b,tokens:[\(chance)]".replacing(
                /[a-zA-Z0-9]+/
            ) { "\(quote)\($0.output)\(quote)" } + #"}">"#
        let masked = text.replacing("MapleOtter42", with: "sluice-password-1").replacing(chance, with: "sluice-token-1")
        for syntax in [ScanSyntax.markup, .text] { #expect(Masked.text(text, syntax) == masked) }
    }

    @Test("Base64 in a path does not take the path with it")
    func paths() {
        for json in [#"{"token":"\#(chance)","u":1}"#, #"{"u":17,"token":"\#(chance)"}"#, #"{"token":"\#(chance)x"}"#] {
            let segment = Data(json.utf8).base64EncodedString().filter { $0 != "=" }
            for path in [
                "/api/v1/unsubscribe/", "/a/b/", "/unsubscribe/", "/apis/v1/resetPassword/of/", "/v1/unsubscribes/",
            ] {
                for (before, after) in [
                    ("http://localhost:38221", ""), ("", ""), ("https://h.example.com", "/confirm"),
                ] {
                    let text = before + path + segment + after
                    let masked = Masked.text(text, .field)
                    #expect(masked.hasPrefix(before + path + "sluice-token-") && masked.hasSuffix(after), "\(masked)")
                    #expect(!masked.contains(segment.dropFirst(8).prefix(12)), "\(masked)")
                    if before.isEmpty {
                        let head = Masked.head("HTTP/1.1 302 Found\r\nLocation: \(text)\r\n\r\n", isRequest: false)
                        #expect(head.contains("Location: \(path)sluice-token-"), "\(head)")
                        let request = Masked.head("GET \(text) HTTP/1.1\r\nHost: h\r\n\r\n")
                        #expect(request.hasPrefix("GET \(path)sluice-token-"), "\(request)")
                    }
                }
            }
        }
    }

    @Test("Base64 with slashes is taken whole")
    func slashes() {
        let json = #"{"a":"??>>~~??ÿÿ??~~","token":"\#(chance)","b":"??>?>~~??>>?>?"}"#
        let coded = Data(json.utf8).base64EncodedString()
        #expect(coded.contains("/"))
        for before in ["", "x ", "\"", "u=", "/unsubscribe/"] {
            #expect(!Masked.text(before + coded, .text).contains(coded.dropFirst(4).prefix(8)), "\(before)")
        }
    }

    @Test("More cookies than one in a field")
    func cookies() {
        func masked(_ value: String) -> String {
            Masked.head("HTTP/1.1 200 OK\r\nSet-Cookie: \(value)\r\n\r\n", isRequest: false)
                .replacing("HTTP/1.1 200 OK\r\nSet-Cookie: ", with: "").replacing("\r\n", with: "")
        }
        #expect(
            masked("a=1; Path=/, sid=Maple-Otter-42x; HttpOnly")
                == "a=sluice-cookie-1; Path=/, sid=sluice-session-1; HttpOnly"
        )
        #expect(
            masked("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT,b=2z; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/a,b")
                == "a=sluice-cookie-1; Expires=Wed, 21 Oct 2015 07:28:00 GMT,b=sluice-cookie-2; "
                + "Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/a,b"
        )
    }
}
