import HTTPModel
import NIOCore
import Testing

@testable import Masking

@Suite("Names of secrets")
struct SecretNamesTests {
    @Test(
        "say that their value is one",
        arguments: [
            "password", "Password", "user_password", "newPassword", "passwd", "pwd", "PIN", "otp", "access_token",
            "X-Api-Key", "apiKey", "api_key", "secret_key_base", "client_secret", "Authorization",
            "Proxy-Authorization", "csrf_token",
            "X-Amz-Security-Token", "sid", "connect.sid", "PHPSESSID", "X-Amz-Signature", "sig", "private_key",
            "Ocp-Apim-Subscription-Key", "card_number", "password_confirmation", "passwordConfirm", "password2",
            "user_pass", "db_pass", "userPwd", "secretValue", "apikey_prod", "token1", "auth_token_4", "token_20",
            "csrf", "_csrf", "XSRF",
            "auth_token_v2", "password_hash", "reset_token", "resetToken", "remember_token", "change_token",
            "reset_secret", "reset_password_token", "totp_code", "cvvCode", "userPin", "oldPwd", "currentPwd",
            "MYSQL_PWD", "rootpw",
            "confirmationCode", "recoveryKey", "ssh_key",
        ]
    )
    func secret(name: String) { #expect(SecretNames().kind(of: name.utf8) != nil) }

    @Test(
        "of ordinary values are passed over",
        arguments: [
            "token_type", "max_tokens", "nextPageToken", "next_token", "continuationToken", "forgot_password",
            "isPasswordSet", "hasToken", "secretary", "keyboard", "monkey", "author", "passport", "primary_key", "id",
            "signature_algorithm", "password_hint", "tokens_used", "x", "", "stop_token", "reset_my_password",
            "next_page_token", "pinned", "authority", "passenger", "bypass", "compass", "boarding_pass",
            "password_length", "remember_me", "reset_password", "change_password", "remember_password", "invalid_token",
            "missing_token", "require_secret",
            "passwordStrength", "token_count", "token_limit", "csrf_enabled", "keyword", "key", "sort_key", "cache_key",
            "public_key", "authored_by", "d", "tokenizer", "secretariat", "opinion", "spin", "cookie_policy",
            String(repeating: "a", count: 200) + "passage",
        ]
    )
    func ordinary(name: String) { #expect(SecretNames().kind(of: name.utf8) == nil) }

    @Test(
        "of fields that services have",
        arguments: [
            "X-Goog-IAP-JWT-Assertion", "X-Amzn-Oidc-Data", "X-Firebase-AppCheck", "X-Shopify-Hmac-Sha256",
            "Fastly-Key", "DD-APPLICATION-KEY", "X-Parse-Master-Key", "X-HTTP-Authorization",
        ]
    )
    func fields(name: String) {
        #expect(SecretNames().kind(ofField: name) != nil)
        #expect(!Masked.head("GET / HTTP/1.1\r\n\(name): \(chance)\r\n\r\n").contains(chance))
    }

    @Test("A key of SSH is one where it looks made by chance")
    func keyOfSSH() {
        #expect(Masked.text(#"{"ssh_key":"my-laptop"}"#) == #"{"ssh_key":"my-laptop"}"#)
        #expect(Masked.text(#"{"ssh_key":"\#(chance)"}"#) == #"{"ssh_key":"sluice-private-key-1"}"#)
    }

    @Test("are added and taken away by the profile")
    func rules() {
        let long = String(repeating: "long", count: 18)
        let names = SecretNames(
            also: ["X-Tenant", "*codeword", "k", long],
            except: ["sid", "CSRF_token", "*-hint-token"]
        )
        for name in ["x_tenant", "my-codeword", "codeword", "K", long] {
            #expect(names.kind(of: name.utf8) == .named)
        }
        for name in ["sid", "csrfToken", "tenant", "my_hint_token", "x-k", long + "er"] {
            #expect(names.kind(of: name.utf8) == nil)
        }
        let mask = TextMask(Masked.rules(except: ["theme", "reference"]))
        let head = ByteBuffer(
            string:
                "GET /?reference=\(chance)\(chance) HTTP/1.1\r\nCookie: a=b; theme=dark\r\nReference: \(chance)\(chance)\r\n\r\n"
        )
        _ = HeadMask(mask: mask).masked(head, isRequest: true)
        #expect(mask.suspects.isEmpty)
        mask.endCollecting()
        let masked = String(buffer: HeadMask(mask: mask).masked(head, isRequest: true).0)
        #expect(masked == String(buffer: head).replacing("a=b", with: "a=sluice-cookie-1"))
    }
}
