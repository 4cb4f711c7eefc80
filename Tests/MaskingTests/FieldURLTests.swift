import NIOCore
import Testing

@testable import Masking

@Suite("URLs and JSON in fields of heads")
struct FieldURLTests {
    @Test(
        "A secret in the query of a URL",
        arguments: [
            "Location: URL", "Content-Location: URL", "Referer: URL", "Destination: URL", "Refresh: 5; url=URL",
            "Link: <URL>; rel=preload", "Link: <https://h/a>; rel=\"next\", <URL>; rel=\"last\"",
            "Reporting-Endpoints: a=\"https://h/x\", default=\"URL\"",
            #"Report-To: {"group":"a","max_age":1,"endpoints":[{"url":"URL"}]}"#,
            #"NEL: {"report_to":"a","url":"URL","max_age":1}"#,
            "Content-Security-Policy: default-src 'self'; report-uri URL",
            "Content-Security-Policy-Report-Only: report-uri URL; base-uri 'none'", "Alt-Svc: h2=\"URL\"; ma=1",
            "Server-Timing: db;desc=\"URL\"", "User-Agent: Bot/1.0 (+URL)", "X-Original-URL: URL", "SourceMap: URL",
            "HX-Redirect: URL", "X-Trace-Url: URL", "Origin-Agent: URL",
            "Content-Disposition: attachment; filename=\"URL\"",
        ]
    )
    func queries(field: String) {
        for (value, masked) in [
            ("https://h.example/x?a=1&token=maple-otter-17&b=2", "https://h.example/x?a=1&token=sluice-token-1&b=2"),
            ("/x?access_token=maple-otter-17", "/x?access_token=sluice-token-1"),
            ("https://u:maple-otter-17@h.example/", "https://u:sluice-password-1@h.example/"),
            ("https://9f3A7c21Bd08e6Qz4b@h.example/x", "https://sluice-token-1@h.example/x"),
            ("https://jane.doe@h.example/x", "https://jane.doe@h.example/x"),
            ("https://sluice-token-1@h.example/x", "https://sluice-token-1@h.example/x"),
            ("https://h.example/x?key=\(chance)#f", "https://h.example/x?key=sluice-key-1#f"),
        ] {
            let head = "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n"
            #expect(
                Masked.head(head.replacing("URL", with: value), isRequest: false)
                    == head.replacing("URL", with: masked),
                "\(field)"
            )
        }
    }

    @Test("JSON in a field")
    func json() {
        let head = #"HTTP/1.1 200 OK\#r\#nReport-To: {"group":"a","token":"maple-otter-17"}\#r\#n\#r\#n"#
        #expect(
            Masked.head(head, isRequest: false) == head.replacing("maple-otter-17", with: "sluice-token-1")
        )
    }

    @Test(
        "What looks made by chance in such fields is ordinary",
        arguments: [
            "Content-Security-Policy: script-src 'nonce-9f3A7c21Bd08e6QzKm41Wx77' 'sha256-9f3A7c21Bd08e6QzKm41Wx779f3A7c21Bd0='",
            #"Report-To: {"group":"9f3A7c21Bd08e6QzKm41Wx77","max_age":1}"#, "User-Agent: x/9f3A7c21Bd08e6QzKm41Wx77",
            "Server-Timing: cfRequestId;desc=\"9f3A7c21Bd08e6QzKm41Wx77\"", "X-Request-Id: 9f3A7c21Bd08e6QzKm41Wx77",
            "ETag: \"9f3A7c21Bd08e6QzKm41Wx77=\"",
        ]
    )
    func ordinary(field: String) {
        let mask = TextMask()
        let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")
        let heads = HeadMask(mask: mask)
        _ = heads.masked(head, isRequest: false)
        #expect(mask.suspects.isEmpty && mask.secretCount == 0)
    }
}
