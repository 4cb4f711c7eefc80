import Testing

@testable import Masking

@Suite("Ordinary values under the names of secrets")
struct OrdinaryValueTests {
    @Test(
        "stay",
        arguments: [
            #"{"pin":"top-left","csrf":"X-CSRF-Token","xsrf":"XSRF-TOKEN"}"#,
            #"{"session":"2024-spring-b","key":"en-US"}"#, #"{"TokenValidityUnits": {"AccessToken": "minutes"}}"#,
            #"{"dependencies":{"csrf":"^3.1.0","jwt":"~1.0","otp":"1.2.3","credentials":"1.0.0"}}"#,
            #"{"apiKey":"disabled","otp":"sms","jwt":"RS256","cvc":"unchecked","totp":"enabled"}"#,
            #"{"assertion":"toEqual","sas":"SATA","mnemonic":"MOV","hmac":"SHA256"}"#,
            #"{"authentication":"oauth2","credentials":"same-origin","credential":"public-key"}"#,
            #"{"authentication":"Password based","authorization":"none"}"#, #"{"pass":120,"fail":3}"#,
            #"{"token":"/oauth/token","access_token":"https://h.example/oauth/token"}"#,
            #"{"private_key":"/etc/ssl/private/server.key","privateKey":"./certs/key.pem","privateKey":"~/.ssh/id_rsa"}"#,
            #"{"secret":"projects/my-project/secrets/my-secret/versions/latest"}"#,
            #"{"encryptionKey":"arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"}"#,
            #"{"password":"Contraseña","newPassword":"Mot de passe","pass":"密码"}"#,
            #"{"apiKey":"API key","token":"Token","accessToken":"Access Token","pin":"PIN"}"#,
            #"{"SECRET_KEY":"AWS_SECRET_ACCESS_KEY","token":"csrf_token"}"#,
            "{\"token\":\"#dddddd\"}",
            #"{"token":"keyword.operator","input_token":"NextToken"}"#, #"{"mustChangePassword":"1"}"#,
            #"{"connectionString":"mongodb://localhost:27017/app"}"#,
        ]
    )
    func ordinary(text: String) { #expect(Masked.text(text) == text) }

    @Test("Where a place has a secret in it, that is masked")
    func places() {
        for (text, masked) in [
            (#"{"token":"https://h/x?token=hunter22"}"#, #"{"token":"https://h/x?token=sluice-token-1"}"#),
            (#"{"token":"https://u:hunter22@h/x"}"#, #"{"token":"https://u:sluice-password-1@h/x"}"#),
            (#"{"token":"/\#(chance)"}"#, #"{"token":"sluice-token-1"}"#),
        ] { #expect(Masked.text(text) == masked) }
    }

    @Test("Names of pages in a list are ordinary, whatever stands before them")
    func pages() {
        for name in [
            "NextToken", "nextPageToken", "pageToken", "continuation-token", "NextContinuationToken", "nextSyncToken",
            "pagination_token", "resumptionToken", "nextForwardToken", "$skiptoken", "lastPageToken", "deltaToken",
        ] {
            let json = #"{"\#(name)":"\#(chance)"}"#
            #expect(Masked.text(json) == json)
        }
        for name in ["adminToken", "pageAccessToken", "token", "requestToken"] {
            #expect(!Masked.text(#"{"\#(name)":"\#(chance)"}"#).contains(chance))
        }
    }

    @Test(
        "Templates and covered values stay, in a request, too",
        arguments: [
            "${API_KEY}", "${token}", "{{token}}", "{{ secrets.TOKEN }}", "$API_KEY", "%API_KEY%", "<%= token %>",
            "${{ secrets.TOKEN }}",
            "#{token}", "{token}", ":token", "__TOKEN__", "@@TOKEN@@", "<your-token>", "[REDACTED]", "***REDACTED***",
            "••••••••",
            "********", "xxxxxxxx", "xxxx-xxxx-xxxx", "sk-...", "sk-****1234", "ghp_xxxxxxxxxxxxxxxxxxxx",
            "<user>:<token>", "%s:%s",
            "{0}-{1}", "sluice-token-3",
        ]
    )
    func templates(value: String) {
        let json = #"{"apiKey":"\#(value)","password":"\#(value)","z":1}"#
        for origin in [OrdinaryValue.Origin.request, .response] { #expect(Masked.text(json, origin: origin) == json) }
        let markup = "<a token=\"\(value.replacing("<", with: "&lt;").replacing(">", with: "&gt;"))\">"
        #expect(Masked.text(markup, .markup) == markup)
        let form =
            "token=\(value.replacing("%", with: "%25").replacing("{", with: "%7B").replacing("#", with: "%23"))&b=2"
        #expect(Masked.text(form, .form) == form)
    }

    @Test(
        "A password that looks nearly like one is a secret",
        arguments: [
            "P{x}9!aQ", "{x9!aQ2z}", "{hunter2}", "[x9!q]", "$ummer2024!", ":colon9x", "@Tr0ub4@", "$ecret", "(maple)",
            "xMaple9x",
        ]
    )
    func passwords(value: String) {
        #expect(Masked.text(#"{"password":"\#(value)"}"#) == #"{"password":"sluice-password-1"}"#)
    }

    @Test(
        "A password in a request is one even if it is a word",
        arguments: ["changeme", "secret", "default", "password", "none"]
    )
    func wordsOfRequests(word: String) {
        for (text, syntax) in [
            (#"{"password":"WORD"}"#, ScanSyntax.text), ("a=1&password=WORD", .form),
            ("<password>WORD</password>", .markup),
        ] {
            let text = text.replacing("WORD", with: word)
            #expect(
                Masked.text(text, syntax, origin: .request)
                    == text.replacing("=\(word)", with: "=sluice-password-1")
                    .replacing("\"\(word)\"", with: "\"sluice-password-1\"").replacing(
                        ">\(word)<",
                        with: ">sluice-password-1<"
                    )
                    .replacing("\"sluice-password-1\":\"", with: "\"password\":\"")
            )
            #expect(Masked.text(text, syntax) == text)
        }
        let head = "POST / HTTP/1.1\r\nX-Password: \(word)\r\nX-Auth: none\r\n\r\n"
        #expect(
            Masked.head(head)
                == head.replacing("Password: \(word)", with: "Password: sluice-password-1")
        )
    }

    @Test(
        "What an answer says of a password or a secret is none",
        arguments: [
            "Enter your password", "Minimum 8 characters", "This field is required.", "is too short", "can't be blank",
            "4 to 6 digits",
            "Your client secret", "Client Secret",
        ]
    )
    func sentences(value: String) {
        for name in ["password", "client_secret"] {
            #expect(Masked.text(#"{"\#(name)":"\#(value)"}"#) == #"{"\#(name)":"\#(value)"}"#)
        }
    }

    @Test("Passphrases, and digits in groups")
    func spaces() {
        for (text, masked) in [
            (#"{"password":"correct horse battery"}"#, #"{"password":"sluice-password-1"}"#),
            (#"{"client_secret":"correct horse battery staple"}"#, #"{"client_secret":"sluice-token-1"}"#),
            (#"{"cardNumber":"4111 1111 1111 1111"}"#, #"{"cardNumber":"sluice-card-1"}"#),
            (#"{"otp":"481 516"}"#, #"{"otp":"sluice-code-1"}"#),
            (#"{"otp":"Enter 481 516"}"#, #"{"otp":"Enter 481 516"}"#),
            (#"{"cardNumber":"4111 1111 1111 1112"}"#, #"{"cardNumber":"4111 1111 1111 1112"}"#),
            (#"{"token":"a word of prose"}"#, #"{"token":"a word of prose"}"#),
            (#"{"token":"use ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R now"}"#, #"{"token":"use sluice-key-1 now"}"#),
        ] { #expect(Masked.text(text) == masked) }
    }

    @Test("What is a secret all the same")
    func secrets() {
        for text in [
            #"{"pin":"d13x"}"#, #"{"jwt":"hunter22"}"#, #"{"authentication":"Bearer h4nter22Xy9Q"}"#,
            #"{"credentials":"bob:hunter"}"#, #"{"password":"1.2.3"}"#, #"{"password":"mypassword"}"#,
            #"{"mnemonic":"maple otter lake river stone cloud"}"#,
            #"{"pass":1234,"password":4711}"#,
            #"{"client_secret":"supersecret"}"#, #"{"sid":"abc12345"}"#, #"{"token":"a.b.c9d8"}"#,
            #"{"password":"/usr/src"}"#, #"{"secret":"my-secret"}"#,
        ] { #expect(Masked.text(text).contains("sluice-") || Masked.text(text).contains("9000000"), "\(text)") }
    }
}
