import Foundation
import Testing

@testable import Masking

/// Sixty secrets in the places that the guide names, and sixty ordinary values beside them.
@Suite("Sixty secrets are masked, and sixty ordinary values stay")
struct TenLinesTests {
    /// Where a text is: in a head of a request or a response, or a body of a type.
    enum Place {
        case request, response
        case body(String)
    }

    /// Texts with `@` for a secret.
    static let secrets: [(Place, [String])] = [
        (
            .request,
            [
                "Cookie: a=@", "Cookie: a=1; sid=\"@\"; b=2", "Authorization: Bearer @", "Authorization: @",
                "Authorization: Token token=\"@\"", "Authorization: Digest username=\"u\", response=\"@\"",
                "Authorization: AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=host, Signature=@",
                "Proxy-Authorization: Bearer @",
                "X-Api-Key: @", "x-auth-token: @", "X-Amz-Security-Token: @", "X-CSRF-Token: @", "Api-Key: @",
                "X-Password: @",
                "Ocp-Apim-Subscription-Key: @", "Private-Token: @", "Key: @", "Referer: https://h/x?access_token=@&b=1",
                "Origin: https://user:@@h.example", "X-Forwarded-Url: /x?sig=@",
                "X-Back: /l?u=https%3A%2F%2Fh%2F%3Ftoken%3D@%26b",
            ]
        ),
        (
            .response,
            [
                "Set-Cookie: a=@; Path=/; HttpOnly", "Set-Cookie: a=1; Path=/, sid=@", "Location: /cb?code=@&state=x",
                "Location: https://h/#access_token=@&token_type=bearer", "Link: <https://h/?api_key=@>; rel=next",
                "Refresh: 5; url=/x?jwt=@", "X-Refresh-Token: @",
            ]
        ),
        (
            .body("application/x-www-form-urlencoded"),
            [
                "user=u&password=@&x=1", "user%5Bpassword%5D=@", "client_secret=@&grant_type=x", "code=@",
                "refresh_token=@",
                "back=https%3A%2F%2Fh%2F%3Ftoken%3D@%26z%3D1", "v=%7B%22apiKey%22%3A%22@%22%7D", "pass%77ord=@",
            ]
        ),
        (
            .body("application/json"),
            [
                #"{"password":"@"}"#, #"{"a":{"accessToken": "@"}}"#, #"{"api_key" : "@","x":1}"#,
                #"{"apiKeys":["@"]}"#,
                #"{"password":{"value":"@"}}"#, #"{"d":"{\"client_secret\":\"@\"}"}"#, #"{"Authorization":"Bearer @"}"#,
                #"{"url":"https:\/\/h\/?token=@\u0026x=1"}"#, #"{"password":"@"#, "data: {\"sessionToken\":\"@\"}\n\n",
                #"{"dsn":"https://user:@@h.example/1"}"#,
            ]
        ),
        (
            .body("text/html"),
            [
                "<input type=\"hidden\" name=\"csrf_token\" value=\"@\">", "<input type=password value='@'>",
                "<meta name=\"csrf-token\" content=\"@\">", "<a href=\"/x?token=@&amp;b=1\">x</a>",
                "<script>s = {\"accessToken\":\"@\"}</script>",
            ]
        ),
        (
            .body("application/xml"),
            ["<a><n:password>@</n:password></a>", "<secret><![CDATA[@]]></secret>", "<u apiKey='@'/>"]
        ),
        (
            .body("multipart/form-data; boundary=b"),
            [
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n@\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"j\"\r\nContent-Type: application/json\r\n\r\n{\"token\":\"@\"}\r\n--b--\r\n",
            ]
        ),
        (
            .body("text/plain"),
            ["-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----", "see ghp_@@ there", "x sk_live_@@ y"]
        ),
    ]

    private static func masked(_ place: Place, _ text: String, knowing: [String] = []) -> String {
        switch place {
        case .request: Masked.head("GET / HTTP/1.1\r\n\(text)\r\n\r\n", knowing: knowing)
        case .response: Masked.head("HTTP/1.1 200 OK\r\n\(text)\r\n\r\n", isRequest: false, knowing: knowing)
        case .body(let type): String(decoding: Masked.body(Array(text.utf8), type, knowing: knowing), as: UTF8.self)
        }
    }

    @Test("No secret is left")
    func allSecrets() {
        var count = 0
        for (place, texts) in TenLinesTests.secrets {
            for text in texts {
                count += 1
                let secret = "Zq\(count)xW9mK4vT7bR2nY\(count)"
                let isUser = text.contains(":@@h")
                let filled = text.replacing(isUser ? ":@@" : "@@", with: isUser ? ":\(secret)@" : secret + secret)
                    .replacing("@h.", with: "\u{1}").replacing("@", with: secret).replacing("\u{1}", with: "@h.")
                let masked = TenLinesTests.masked(place, filled)
                #expect(!masked.contains(secret) && masked.contains("sluice-"), "\(filled) became \(masked)")
                // Elsewhere the same secret is known in five forms.
                let base64 = Data("a\(secret)".utf8).base64EncodedString()
                for form in [secret, "%22\(secret)%22", #"\"\#(secret)\""#, base64] {
                    let other = TenLinesTests.masked(.body("text/plain"), "x \(form) y", knowing: [secret])
                    #expect(other.contains("sluice-token-1") && !other.contains(form), "\(form)")
                }
            }
        }
        #expect(count >= 60)
    }

    static let ordinary: [(Place, [String])] = [
        (
            .request,
            [
                "Host: h.example", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)", "Accept: text/html",
                "If-None-Match: \"9f3A7c21Bd08e6Qz\"",
                "X-Request-Id: 9f3A7c21Bd08e6Qz", "Idempotency-Key: 9f3A7c21Bd08e6Qz", "X-Forwarded-For: 203.0.113.7",
                "Authorization: Bearer {{token}}", "X-Api-Key: <your key>", "X-Auth: none", "X-Next-Page-Token: abc",
                "Referer: https://h.example/a?page=2&key=name", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Surrogate-Key: a b c",
            ]
        ),
        (
            .response,
            [
                "ETag: \"9f3A7c21Bd08e6Qz9f3A7c21\"", "x-amz-id-2: 9f3A7c21Bd08e6Qz9f3A7c21=",
                "Set-Cookie: sid=; Max-Age=0",
                "WWW-Authenticate: Bearer error=\"invalid_token\"", "Location: /login?next=%2Faccount",
                "Content-Type: application/json",
                "Access-Control-Allow-Credentials: true", "Cache-Control: no-cache",
            ]
        ),
        (
            .body("application/x-www-form-urlencoded"),
            [
                "q=a+b&page=2", "next_page_token=CAUQAA", "key=settings.title", "code=12", "token=%7B%7Btoken%7D%7D",
                "grant_type=password",
            ]
        ),
        (
            .body("application/json"),
            [
                #"{"password":"[REDACTED]","token":null,"secret":"${SECRET}"}"#,
                #"{"password":{},"emails":[{"value":"a@b.example"}]}"#,
                #"{"max_tokens":4096,"token_type":"bearer"}"#, #"{"key":"9f3A7c21Bd08e6Qz"}"#,
                #"{"code":"9f3A7c21Bd08e6Qz"}"#,
                #"{"password":"Enter your password"}"#, #"{"apiKey":"disabled","otp":"sms"}"#,
                #"{"csrf":"X-CSRF-Token"}"#,
                #"{"id":"550e8400-e29b-41d4-a716-446655440000"}"#, #"{"nextPageToken":"9f3A7c21Bd08e6Qz"}"#,
                #"{"secretary":"Ann"}"#,
                #"{"keyboard":"qwerty","passport":"x1"}"#, #"{"token":"https://h.example/oauth/token"}"#,
                #"{"jwt":"~1.0"}"#,
                #"{"authentication":"oauth2","credentials":"same-origin"}"#, #"{"primary_key":17,"pin":"top-left"}"#,
                #"{"items":[{"name":"password","in":"query"}]}"#, #"{"url":"https://h.example/a?b=c"}"#,
                #"{"token":"sluice-token-9"}"#,
                #"{"sha":"9fceb02d0ae598e95dc970b74767f19372d61af8"}"#,
                #"{"private_key":"/etc/ssl/private/server.key"}"#,
            ]
        ),
        (
            .body("text/html"),
            [
                "<label>Password: </label><b>x</b>", "<input type=\"password\" name=\"password\">",
                "<a accesskey=\"h\" href=\"/\">x</a>",
                "<p>Your token is in the mail</p>", "<a href=\"/reset-password?step=2\">x</a>",
                "<!-- password: none -->",
            ]
        ),
        (
            .body("application/javascript"),
            [
                "x={token:t.token};password=f(\"p\")", "const token = \"9f3A7c21Bd08e6Qz\";", "u=\"?token=\"+t",
                "a?token=b:c",
            ]
        ),
        (
            .body("application/xml"),
            ["<PasswordPolicy>strong</PasswordPolicy>", "<password><hint>pet</hint></password>"]
        ),
        (.body("text/plain"), ["PASSWORD=x", "password: x", "lodash@4.17.21", "-----BEGIN PUBLIC KEY-----\nMIIB"]),
    ]

    @Test("No ordinary value is destroyed")
    func allOrdinary() {
        var count = 0
        for (place, texts) in TenLinesTests.ordinary {
            for text in texts {
                count += 1
                #expect(TenLinesTests.masked(place, text).contains(text), "\(TenLinesTests.masked(place, text))")
            }
        }
        #expect(count >= 60)
    }
}
