import Testing

@testable import Masking

@Suite("Credentials in texts that are no fields")
struct CredentialTests {
    private static let token = "ZZbearTOK1234567"

    @Test(
        "Behind a scheme, or behind the name of a field in a string",
        arguments: [
            "curl -H \"Authorization: Bearer \(token)\" http://h/", "curl -H 'X-Api-Key: \(token)' http://h/",
            #"{"headers":["Authorization: Bearer \#(token)"]}"#, #"[["Authorization","Bearer \#(token)"]]"#,
            #"{"cmd":"curl -H \"Authorization: Bearer \#(token)\""}"#, #"{"hdr":"Bearer \#(token)"}"#,
            #"["auth","Bearer \#(token)"]"#, "log: Authorization=Bearer \(token) ok", "sent with Bearer \(token).",
            "Authorization=Bearer opaque-value of", "header: bearer \(token)", #"{"log":"a\nBearer \#(token)\nb"}"#,
            "the field is Token \(token)", "Authorization: Token \(token)", "x Basic dXNlcjpwdzEyMzQ1 y",
            "Bearer 0123456789abcdef", "Bearer ab12cd34", "Bearer secret-12345",
        ]
    )
    func found(text: String) {
        let masked = Masked.text(text)
        for word in [Self.token, "opaque-value", "dXNlcjpwdzEyMzQ1", "0123456789abcdef", "ab12cd34", "secret-12345"] {
            #expect(!masked.contains(word), "\(masked)")
        }
        #expect(masked.contains("sluice-"))
    }

    @Test("Behind a scheme in a form and in a query, where spaces are written otherwise")
    func forms() {
        #expect(Masked.text("h=Bearer+\(Self.token)&a=1", .form) == "h=Bearer+sluice-token-1&a=1")
        #expect(Masked.text("h=Bearer%20\(Self.token)&a=1", .form) == "h=Bearer%20sluice-token-1&a=1")
        #expect(Masked.text("h=see%20Bearer%20\(Self.token)&a=1", .form) == "h=see%20Bearer%20sluice-token-1&a=1")
        #expect(Masked.text("h=X%3ABearer%20\(Self.token)", .form) == "h=X%3ABearer%20sluice-token-1")
        #expect(Masked.text("Bearer \(Self.token)", .field) == "Bearer sluice-token-1")
    }

    @Test(
        "Words that only look like them stay",
        arguments: [
            "Bearer of bad news", "the Bearer OAuth2.0 scheme", "Bearer RFC-6750 tokens", "Bearer SHA256 ok",
            "Basic usage", "Basic HTML5 and BasicAuth2019", "Basic dXNlcg is no pair", "Token ring of 2000-12-01",
            "Token 1234567",
            "Bearer <token>", "Bearer $TOKEN", "curl -H \"Authorization: Bearer $TOKEN\" http://h/",
            "curl -H 'Authorization: Bearer ${TOKEN}'", #"{"hint":"Authorization: needed"}"#,
            #"{"hint":"X-Api-Key: ask your admin for one"}"#, #"{"a":"Password: at least 8 characters"}"#,
            "forbearer ab12cd34ef56", #"{"title":"Api Key: 2 of 3 used"}"#, "Bearer sluice-token-1",
        ]
    )
    func lookAlikes(text: String) { #expect(Masked.text(text) == text) }

    @Test("A value under a name that the profile exempts stays")
    func exempt() {
        let text = #"{"hdr":"Bearer \#(Self.token)"}"#
        #expect(Masked.text(text, .text, Masked.rules(except: ["hdr"])) == text)
    }
}
