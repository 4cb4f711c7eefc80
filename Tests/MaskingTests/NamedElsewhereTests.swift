import Testing

@testable import Masking

@Suite("Values whose name stands on another line, in an expression or in a command")
struct NamedElsewhereTests {
    private let password = "hunter22xyz"

    private func expectMasked(_ text: String, _ syntax: ScanSyntax = .text, _ kind: String = "password") {
        #expect(Masked.text(text, syntax) == text.replacing(password, with: "sluice-\(kind)-1"))
    }

    @Test("Name and value on lines of YAML, in either order")
    func yaml() {
        expectMasked("env:\n  - name: DB_PASSWORD\n    value: hunter22xyz\n  - name: LOG_LEVEL\n    value: debugging\n")
        expectMasked("env:\n  - value: hunter22xyz\n    name: DB_PASSWORD\n")
        expectMasked(#"{"manifest": "env:\n  - name: DB_PASSWORD\n    value: hunter22xyz\n"}"#)
        for text in [
            "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: x\n- name: LOG_LEVEL\n  value: debugging\n",
            "- name: LOG_LEVEL\n  value: debugging\n", "name: password reset\nvalue: debugging\n",
        ] { #expect(Masked.text(text) == text) }
    }

    @Test("Parameters of CloudFormation")
    func parameters() {
        expectMasked(#"[{"ParameterKey": "DBPassword", "ParameterValue": "hunter22xyz"}]"#)
        expectMasked(#"[{"ParameterValue": "hunter22xyz", "ParameterKey": "DBPassword"}]"#)
        let other = #"[{"ParameterKey": "Region", "ParameterValue": "eu-central-1"}]"#
        #expect(Masked.text(other) == other)
    }

    @Test("An input of a password under any name")
    func input() {
        expectMasked(#"<input type="password" name="confirm" value="hunter22xyz">"#, .markup)
        expectMasked(#"<input name=confirm value="hunter22xyz" type=password>"#, .markup)
        for text in [
            #"<input type="password" name="confirm"><input type="text" value="plain words">"#,
            #"<input type="text" name="confirm" value="plain words">"#, #"<a type="password">value</a>"#,
        ] { #expect(Masked.text(text, .markup) == text) }
    }

    @Test("A command of curl")
    func curl() {
        expectMasked("try curl -u admin:hunter22xyz https://h.example/")
        expectMasked("curl -sS --user 'admin:hunter22xyz' https://h.example/ # and more")
        expectMasked(#"{"run": "curl -u \"admin:hunter22xyz\" https://h.example/"}"#)
        for text in [
            "curl -fsS x; docker run -u 1000:1000 y", "docker run -u app:staff-group image",
            "curl -u $USER:$PASSWORD x",
            "curl -u user:password https://h.example/", "curl -u admin https://h.example/", "sudo -u postgres psql",
        ] { #expect(Masked.text(text) == text) }
    }

    @Test("What is taken where an expression has no value")
    func alternatives() {
        expectMasked("const t = process.env.SECRET || \"hunter22xyz\";", .text, "token")
        expectMasked("x = os.getenv(\"DB_PASSWORD\", \"hunter22xyz\")")
        expectMasked("x = config.get('db.password', 'hunter22xyz')")
        expectMasked("'password' => 'hunter22xyz',")
        expectMasked(":password => \"hunter22xyz\",")
        expectMasked("const password = `hunter22xyz`;", .script)
        for text in [
            "const t = process.env.HOST || \"localhost-of-mine\";", "if (token || \"\") x()",
            "token => 'no-name-of-one'",
            "const password = `${user}-of-mine-22`;", "x = getenv(\"HOME\", \"hunter22xyz\")",
            "a ? \"hunter22xyz\" : 1",
            "setTitle(\"Token\", \"Title of the page\")",
        ] { #expect(Masked.text(text, .script) == text) }
    }

    @Test("Keys of services")
    func services() {
        let tail = "7fQ2xLw9ZbT4mKc8VsR1nHd6YpJ3gEa5UoXi0BvN"
        for beginning in ["GOCSPX-", "hvs.", "dckr_pat_", "gsk_", "sbp_", "lin_api_", "pat-na1-", "ntn_", "ATATT3"] {
            #expect(Masked.text("see \(beginning)\(tail) there") == "see sluice-key-1 there")
        }
        for (before, secret, after) in [
            ("https://api.telegram.org/bot123456789:", "AAF4Zr1x_gPqL7sVbN2cKd8WmT3yHjR5uEo", "/sendMessage"),
            ("https://hooks.slack.com/services/T024BE7LD/B024BE7LE/", "Xq7ZrT2mKc9VsW4nLd8YpJ6g", ""),
            ("https://discord.com/api/webhooks/123456789012345678/", tail, ""),
        ] {
            #expect(
                Masked.text("{\"u\": \"\(before)\(secret)\(after)\"}") == "{\"u\": \"\(before)sluice-token-1\(after)\"}"
            )
            #expect(
                Masked.head("POST \(before)\(secret)\(after) HTTP/1.1\r\n\r\n")
                    == "POST \(before)sluice-token-1\(after) HTTP/1.1\r\n\r\n"
            )
        }
    }

    @Test("Keys of services with hardly a digit, or with all signs of base64")
    func letters() {
        for key in [
            "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", "AIzaAMvfwRKGDVKrVuRRrDFGkbAtzzmygjaLu8s",
            "whsec_QqpbijQE5M/9Q5saJbVcxiW4mbox7b7z", "ghp_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGhIj",
            "sk_live_aBcDeFgHiJkLmNoPqRsTuVwX", "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",
        ] {
            #expect(Masked.text("{\"i1\": \"\(key)\"}") == #"{"i1": "sluice-key-1"}"#)
            #expect(
                Masked.head("GET /x?key=\(key)&page=2 HTTP/1.1\r\n\r\n")
                    == "GET /x?key=sluice-key-1&page=2 HTTP/1.1\r\n\r\n"
            )
        }
        for word in ["npm_config_registry_location_of_packages", "sk-learn-library-of-machine-learning-models"] {
            #expect(Masked.text(#"{"i1": "\#(word)"}"#) == #"{"i1": "\#(word)"}"#)
        }
    }

    @Test("A variable that is given to a call is masked there at the most")
    func variable() {
        let text = "run(task_token=callback_id, x=1)\nself.callback_id = callback_id\n"
        #expect(Masked.text(text).hasSuffix("\nself.callback_id = callback_id\n"))
        #expect(
            Masked.text("DB_PASSWORD=correct_horse\nnote: correct_horse\n")
                == "DB_PASSWORD=sluice-password-1\nnote: sluice-password-1\n"
        )
    }

    @Test("What only looks like it stays")
    func ordinary() {
        for text in [
            #"{"token": "comment", "foreground": "6A9955"}"#, #"{"token": "keyword.flow2x9", "fontStyle": "bold"}"#,
            #"{"tokens": [{"address": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "id": "usd-coin-7fQ2xLw9Z"}]}"#,
            #"{"signatures": [{"keyid": "SHA256:jl3bwswu80PjjokCgh0o2w5c2U4LhQAE57gj9cz1kzA"}]}"#,
            #"{"TokenValidityUnits": {"AccessToken": "minutes", "IdToken": "hours"}}"#,
            #"{"checksum/secret": "5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd"}"#,
            #"{"AWS::IAM::AccessKey": "72c2d9dd90025459"}"#, "x.clientSecret = azuread_config[\n    'clientSecret']",
            "password = self._users[ auth_dict[\"username\"] ]", "token = OAuth2Token(token)",
            "self.__private_key = rsa.key.PrivateKey.load_pkcs1(\n    key_bytes)",
            #"<a href="https://play.example/?code=let+x++++//+interval+%5B1,+2)%0A_MM_1">"#,
            "A/8RAAeZ/EAACBkgAABKgAACqpHwCnrx8Ax8EAAI+EAACXxAAAuMQ1AMTEAADIxAAA0MQAANTEAAD7xA==",
            "auth:\n  existingSecret: my-release-postgresql\n", #"{"password": "Nueva contraseña"}"#,
            #"{"password": "Mot de passe :"}"#, #"{"secret": "Das Geheimnis ist erforderlich"}"#,
            "$token = bin2hex(random_bytes(32));",
            "token = b64encode(data).decode()",
            #"<app (x)="password = $event">"#,
        ] { #expect(Masked.text(text, text.hasPrefix("<") ? .markup : .text) == text) }
    }
}
