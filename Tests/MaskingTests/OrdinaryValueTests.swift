import Testing

@testable import Masking

@Suite("Ordinary values under the names of secrets")
struct OrdinaryValueTests {
    @Test(
        "stay",
        arguments: [
            #"{"pin":"top-left","csrf":"X-CSRF-Token","xsrf":"XSRF-TOKEN"}"#,
            #"{"session":"2024-spring-b","key":"en-US"}"#,
            #"{"dependencies":{"csrf":"^3.1.0","jwt":"~1.0","otp":"1.2.3","credentials":"1.0.0"}}"#,
            #"{"apiKey":"disabled","otp":"sms","jwt":"RS256","cvc":"unchecked","totp":"enabled"}"#,
            #"{"assertion":"toEqual","sas":"SATA","mnemonic":"MOV","hmac":"SHA256"}"#,
            #"{"authentication":"oauth2","credentials":"same-origin","credential":"public-key"}"#,
            #"{"authentication":"Password based","authorization":"none"}"#, #"{"pass":120,"fail":3}"#,
            #"{"sid":"S-1-5-21-3623811015-3361044348-30300820-1013"}"#,
            #"{"Sid":"DenyUploads","Effect":"Deny"}"#, #"{"Effect":"Allow","Sid":"ReadAll"}"#,
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
            "password=Enter password\naccessToken=Access Token\n", "id-token: write\n", "Pass: 12\n",
        ]
    )
    func ordinary(text: String) { #expect(Masked.text(text) == text) }

    @Test("Where a place has a secret in it, that is masked")
    func places() {
        for (text, masked) in [
            (#"{"token":"https://h/x?token=hunter22"}"#, #"{"token":"https://h/x?token=sluice-token-1"}"#),
            (#"{"token":"https://u:hunter22@h/x"}"#, #"{"token":"https://u:sluice-password-1@h/x"}"#),
            ("token=https://u:hunter22@h/x\n", "token=https://u:sluice-password-1@h/x\n"),
            (#"{"secret":"https://h/services/T0/\#(chance)"}"#, #"{"secret":"sluice-token-1"}"#),
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

    @Test("Pieces of a text are no tokens")
    func pieces() {
        for text in [
            #"{"token":"Hello","logprob":-0.31,"bytes":[72],"top_logprobs":[{"token":"Hallo","logprob":-3.1}]}"#,
            #"{"logprob":-0.3,"token":" world!"}"#, #"{"token":"quick","start_offset":4,"end_offset":9}"#,
        ] { #expect(Masked.text(text) == text) }
        for text in [#"{"token":"hunter22","id":4}"#, #"{"token":"\#(chance)","logprob":1}"#] {
            #expect(Masked.text(text).contains("sluice-token-1"))
        }
    }

    @Test("The value of a pair is in the object or the tag of its name")
    func pairs() {
        for text in [
            #"{"password":{"type":"string","minLength":8},"content":"hello world"}"#,
            #"{"parameters":[{"name":"password","in":"query"},{"name":"limit","value":"ten"}]}"#,
            #"<input name="password" type="password"><input name="user" value="bob smith">"#,
            #"<input type="password" name="password"><input type="submit" value="Sign in">"#,
        ] {
            #expect(Masked.text(text) == text)
            #expect(Masked.text(text, .markup) == text)
        }
        for text in [
            #"{"name":"password","schema":{"type":"string"},"value":"hunter22"}"#,
            #"{"password":{"type":"text","value":"hunter22"}}"#, #"{"password":{"a":{"b":1},"value":"hunter22"}}"#,
            #"<input name="password" type="password" value="hunter22">"#,
        ] { #expect(!Masked.text(text).contains("hunter22"), "\(text)") }
    }

    @Test("What is a secret all the same")
    func secrets() {
        for text in [
            #"{"pin":"d13x"}"#, #"{"jwt":"hunter22"}"#, #"{"authentication":"Bearer hunter22"}"#,
            #"{"credentials":"bob:hunter"}"#, #"{"password":"1.2.3"}"#, #"{"password":"mypassword"}"#,
            #"{"mnemonic":"maple otter lake river stone cloud"}"#,
            #"{"pass":1234,"password":4711}"#,
            #"{"client_secret":"supersecret"}"#, #"{"sid":"abc12345"}"#, #"{"token":"a.b.c9d8"}"#,
            #"{"password":"/usr/src"}"#, #"{"secret":"my-secret"}"#,
        ] { #expect(Masked.text(text).contains("sluice-") || Masked.text(text).contains("9000000"), "\(text)") }
    }
}
