import Testing

@testable import Masking

@Suite("What stands for a secret that is put there later")
struct TemplateTests {
    /// A value in JSON, in a line, behind an equals sign and in an attribute.
    private func check(_ value: String, staysUnder name: String) {
        for text in [#"{"\#(name)":"\#(value)","z":1}"#, "\(name): \(value)\nz: 1\n", "\(name)=\(value)\nz=1\n"] {
            #expect(Masked.text(text) == text)
        }
        #expect(Masked.text("<a \(name)=\"\(value)\">", .markup) == "<a \(name)=\"\(value)\">")
    }

    @Test(
        "stays where it is a whole value",
        arguments: [
            "${API_KEY}", "${token}", "{{token}}", "{{ secrets.TOKEN }}", "{{ .Values.token | quote }}", "$API_KEY",
            "%API_KEY%", "<%= token %>", "<?= $token ?>", "${{ secrets.GITHUB_TOKEN }}", "#{token}", "{token}",
            ":token",
            "__TOKEN__", "@@TOKEN@@", "<your-token>", "<API_KEY>", "[REDACTED]", "[FILTERED]", "***REDACTED***",
            "••••••••",
            "●●●●●●", "********", "xxxxxxxx", "xxxx-xxxx-xxxx", "YOUR_API_KEY", "your-token-here", "your_access_token",
            "INSERT_API_KEY_HERE", "REPLACE_WITH_YOUR_KEY", "replace-me", "changeme", "change_me", "sk-...",
            "sk-****1234", "ghp_xxxxxxxxxxxxxxxxxxxx", "env:API_KEY", "<user>:<token>", "%s:%s", "{0}-{1}",
        ]
    )
    func whole(value: String) { check(value, staysUnder: "apiKey") }

    @Test(
        "stays under a password's name, too",
        arguments: [
            "${DB_PASSWORD}", "{{ vault_db_password }}", "{{ lookup('env', 'DB_PASSWORD') }}", "%env(DB_PASSWORD)%",
            "{{resolve:secretsmanager:MySecret:SecretString:password}}", "<your password>", "$DB_PASSWORD", "••••••••",
            "[hidden]", "YOUR_PASSWORD", "op://vault/item/password", "%(password)s",
        ]
    )
    func passwords(value: String) { check(value, staysUnder: "password") }

    @Test(
        "is none where it is no word",
        arguments: [
            "P{x}9!aQ", "${Tr0ub4dor}", "$Tr0ub4dor", "{x9!aQ2z}", "{hunter2}", "[x9!q]", "%Tr0ub4%", "$ummer2024!",
            "__dunder9x__", ":colon9x", "@Tr0ub4@", "*star9x*", "$ecret", "your9mom2", "${PASSWORD:-hunter2}",
            "here9we",
            "(maple)", "abc(def", "hunter(22)!", "xMaple9x",
        ]
    )
    func secrets(value: String) {
        let word = "sluice-password-1"
        #expect(Masked.text(#"{"password":"\#(value)"}"#) == #"{"password":"\#(word)"}"#)
        #expect(Masked.text("password: \(value)\nz: 1\n") == "password: \(word)\nz: 1\n")
        #expect(!Masked.text("PASSWORD=\(value)\nZ=1\n").contains(value))
    }

    @Test("In forms and entities it is written otherwise")
    func coded() {
        for text in ["a=1&token=%7B%7Btoken%7D%7D&b=2", "password=%3Cpassword%3E", "api_key=%24%7BAPI_KEY%7D&b=2"] {
            #expect(Masked.text(text, .form) == text)
        }
        let markup = #"<token>&lt;token&gt;</token><input name="token" value="&lt;your token&gt;">"#
        #expect(Masked.text(markup, .markup) == markup)
        #expect(Masked.text("password=%7Bhunter2%7D", .form) == "password=sluice-password-1")
    }

    @Test(
        "Words of a command's usage are no elements",
        arguments: [
            "mysql --password <password> --user <user> --host <host>", "tool --token <token> then do more",
            "mysql --password=<password> --user=<user>", "Authorization: Bearer <token>\nHost: a",
            #"curl -H "Authorization: Bearer <token>" https://h/items -d '{"a":1}' <b>"#,
            #"curl -H "X-Api-Key: <your key>" https://h/items <file>"#, "curl -u user:<password> https://h/ <x>",
            "https://user:<password>@h/", "scheme://[user:passwd@]proxy.server:port", "https://user:${PASSWORD}@h/",
            "Authorization: Bearer YOUR_API_KEY_1\nHost: a", "https://h/?api_key={api_key}&x=1",
            "https://h/?token=<token>&a=b",
        ]
    )
    func usage(text: String) { #expect(Masked.text(text) == text) }

    @Test("Elements in a text of no type are ones")
    func elements() {
        for (text, masked) in [
            ("so <password>hunter22</password> is", "so <password>sluice-password-1</password> is"),
            (#"{"x":"<password>hunter22<\/password>"}"#, #"{"x":"<password>sluice-password-1<\/password>"}"#),
            ("<a><token>\(chance)", "<a><token>sluice-token-1"),
            ("see <secret><![CDATA[a<b>c]]></secret>", "see <secret><![CDATA[sluice-token-1]]></secret>"),
        ] { #expect(Masked.text(text) == masked) }
    }

    @Test("In a head it stays, too")
    func heads() {
        let head = "GET / HTTP/1.1\r\nAuthorization: Bearer {{token}}\r\nX-Api-Key: <your key>\r\n\r\n"
        #expect(Masked.head(head) == head)
    }

    @Test("A key in PEM that a document leaves out is none")
    func keys() {
        for body in ["...", #"\nXXXX\nXXXX\n"#, #"\n<key bytes>\n"#, #"", "#] {
            let text = #"{"a":"-----BEGIN PRIVATE KEY-----\#(body)-----END PRIVATE KEY-----"}"#
            #expect(Masked.text(text) == text)
        }
        let pattern =
            "\"-----BEGIN PRIVATE KEY-----...\", \"-----BEGIN [A-Z ]*PRIVATE KEY-----.+-----END [A-Z ]*KEY-----\""
        #expect(Masked.text(pattern) == pattern)
        let lines = #"["-----BEGIN PRIVATE KEY-----","MIIEvQIBADANBgkqhkiG9w0B","-----END PRIVATE KEY-----"]"#
        #expect(!Masked.text(lines).contains("MIIE"))
        #expect(!Masked.text("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----").contains("MIIB"))
    }
}
