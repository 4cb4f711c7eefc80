import HTTPModel
import Testing

@testable import Masking

@Suite("Values under the names of secrets are masked in every syntax")
struct StructureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let masked: String
        var syntax: ScanSyntax? = .text
        var testDescription: String { text }

        init(_ text: String, _ masked: String, _ syntax: ScanSyntax? = .text) {
            (self.text, self.masked, self.syntax) = (text, masked, syntax)
        }
    }

    @Test(
        "JSON",
        arguments: [
            Case(#"{"password":"abc","a":1}"#, #"{"password":"sluice-password-1","a":1}"#),
            Case(#"{"password" : "a\"b\\","a":"x"}"#, #"{"password" : "sluice-password-1","a":"x"}"#),
            Case("{\n \"otp\":\n  \"12ab\"}", "{\n \"otp\":\n  \"sluice-code-1\"}"),
            Case(#"{"pin":918273,"n":918}"#, #"{"pin":900000001,"n":918}"#),
            Case(#"{"max_tokens":4096,"token_type":"bearer"}"#, #"{"max_tokens":4096,"token_type":"bearer"}"#),
            Case(
                #"{"a":"{\"client_secret\":\"\#(chance)\",\"b\":\"{\\\"pwd\\\":\\\"xy\\\"}\"}"}"#,
                #"{"a":"{\"client_secret\":\"sluice-token-1\",\"b\":\"{\\\"pwd\\\":\\\"sluice-password-1\\\"}\"}"}"#
            ),
            Case(
                #"{"apiKeys":["\#(chance)","b\#(chance)"],"x":["y"]}"#,
                #"{"apiKeys":["sluice-key-1","sluice-key-2"],"x":["y"]}"#
            ),
            Case(
                #"{"a":{"S":"b"},"password":{"S":"v1"},"c":{"S":"d"}}"#,
                #"{"a":{"S":"b"},"password":{"S":"sluice-password-1"},"c":{"S":"d"}}"#
            ),
            Case(
                #"{"password":{},"emails":[{"value":"a@b.example"}],"value":"c"}"#,
                #"{"password":{},"emails":[{"value":"a@b.example"}],"value":"c"}"#
            ),
            Case(#"{"pin":{"old":1},"value":"v2"}"#, #"{"pin":{"old":1},"value":"v2"}"#),
            Case(
                #"{"passwords":["a]b","x1",["y2"]],"b":["c"]}"#,
                #"{"passwords":["sluice-password-1","sluice-password-2",["sluice-password-3"]],"b":["c"]}"#
            ),
            Case(
                #"{"credentials":"{\"password\":\"ab\"}"}"#,
                #"{"credentials":"{\"password\":\"sluice-password-1\"}"}"#
            ),
            Case(
                #"{"headers":{"Cookie":"foo=Xab1; sid=\"hun\"","Set-Cookie":["a=b1; Path=/"]}}"#,
                #"{"headers":{"Cookie":"foo=sluice-cookie-1; sid=\"sluice-session-1\"","Set-Cookie":["a=sluice-cookie-2; Path=/"]}}"#
            ),
            Case(
                #"{"checksum/secret": "\#(chance)", "AWS::AccessKey": "\#(chance)"}"#,
                #"{"checksum/secret": "\#(chance)", "AWS::AccessKey": "\#(chance)"}"#
            ),
            Case("{\"password\" :\t\"ab1\"}", "{\"password\" :\t\"sluice-password-1\"}"),
            Case(#"{"password":{"value":"v1"}}"#, #"{"password":{"value":"sluice-password-1"}}"#),
            Case(#"{"authorization":"Custom abc"}"#, #"{"authorization":"Custom sluice-credential-1"}"#),
            Case(#"{"password":"cut off in the mid"#, #"{"password":"sluice-password-1"#),
            Case(
                #"{"password":"","token":null,"secret":"${SECRET}"}"#,
                #"{"password":"","token":null,"secret":"${SECRET}"}"#
            ),
            Case(#"{"forgot_password":"Forgot?","token":"token"}"#, #"{"forgot_password":"Forgot?","token":"token"}"#),
            Case(#"{"password":"Enter your password"}"#, #"{"password":"Enter your password"}"#),
            Case("data: {\"token\":\"abcd\"}\n\n", "data: {\"token\":\"sluice-token-1\"}\n\n"),
        ]
    )
    func json(_ each: Case) { #expect(Masked.text(each.text, each.syntax) == each.masked) }

    @Test(
        "Queries and forms",
        arguments: [
            Case("user=b&password=a%2Bb&x=1", "user=b&password=sluice-password-1&x=1", .form),
            Case("user[password]=ab;cd&x", "user[password]=sluice-password-1&x", .form),
            Case("user%5Bpassword%5D=ab&x", "user%5Bpassword%5D=sluice-password-1&x", .form),
            Case("auth=\(chance)&auth=basic", "auth=sluice-token-1&auth=basic", .form),
            Case("code=\(chance)&key=settings.title", "code=sluice-code-1&key=settings.title", .form),
            Case("next_page_token=CAUQAA&q=x", "next_page_token=CAUQAA&q=x", .form),
            Case(
                "back=https%3A%2F%2Fx.y%2F%3Ftoken%3D\(chance)%26z%3D1",
                "back=https%3A%2F%2Fx.y%2F%3Ftoken%3Dsluice-token-1%26z%3D1",
                .form
            ),
            Case(
                "back=https%3A%2F%2Flong.host.example%2Fwith%2Fa%2Flong%2Fpath%2Fof%2Fmore%2Fthan%2Feighty%2Fbytes%3Ftoken%3Dabcd%26z",
                "back=https%3A%2F%2Flong.host.example%2Fwith%2Fa%2Flong%2Fpath%2Fof%2Fmore%2Fthan%2Feighty%2Fbytes%3Ftoken%3Dsluice-token-1%26z",
                .form
            ),
            Case(
                "see https://h/x?access_token=abcd&y=1 there",
                "see https://h/x?access_token=sluice-token-1&y=1 there"
            ),
            Case("https://u:pw12@h.example/x", "https://u:sluice-password-1@h.example/x", .field),
            Case("u=https%3A%2F%2Fb%3AMaple%40h%2F&x=1", "u=https%3A%2F%2Fb%3Asluice-password-1%40h%2F&x=1", .form),
            Case("a=1&pass%77ord=4711&%70in=12", "a=1&pass%77ord=sluice-password-1&%70in=sluice-password-2", .form),
            Case(
                "data[User][password][0]=M42&token%5B%5D=ab12",
                "data[User][password][0]=sluice-password-1&token%5B%5D=sluice-token-1",
                .form
            ),
            Case(
                "v=%7B%22password%22%3A+%22ab12%22%7D&q=1",
                "v=%7B%22password%22%3A+%22sluice-password-1%22%7D&q=1",
                .form
            ),
            Case("v=%7B%22pin%22%3A%204711%7D", "v=%7B%22pin%22%3A%20900000001%7D", .form),
            Case(#"v={"password":"ab12"}&a=1"#, #"v={"password":"sluice-password-1"}&a=1"#, .form),
            Case("/x?a=1&key=\(chance)#f", "/x?a=1&key=sluice-key-1#f", .field),
            Case(#"{"key":"\(chance)","code":"\(chance)"}"#, #"{"key":"\(chance)","code":"\(chance)"}"#),
            Case("https://user:password@h.example/", "https://user:sluice-password-1@h.example/", .field),
            Case("https://u@h.example/a:b@c", "https://u@h.example/a:b@c", .field),
            Case("/app;jsessionid=\(chance)", "/app;jsessionid=sluice-session-1", .field),
            Case("{\"u\":\"/x?token=abcd\\u0026y=1\"}", "{\"u\":\"/x?token=sluice-token-1\\u0026y=1\"}"),
            Case("the password: is wrong", "the password: is wrong"),
        ]
    )
    func queries(_ each: Case) { #expect(Masked.text(each.text, each.syntax) == each.masked) }

    @Test(
        "XML and HTML",
        arguments: [
            Case("<a><Password> ab </Password></a>", "<a><Password> sluice-password-1 </Password></a>", .markup),
            Case("<n:apiKey a='1'>\(chance)</n:apiKey>", "<n:apiKey a='1'>sluice-key-1</n:apiKey>", .markup),
            Case("<s><secret><![CDATA[a<b>]]></secret>", "<s><secret><![CDATA[sluice-token-1]]></secret>", .markup),
            Case("<user token=\"abcd\" name=\"x\"/>", "<user token=\"sluice-token-1\" name=\"x\"/>", .markup),
            Case(
                "<input name=\"csrf_token\" value=\"abcd\">",
                "<input name=\"csrf_token\" value=\"sluice-token-1\">",
                .markup
            ),
            Case(
                "<input value='abcd' type=hidden name='csrf_token'>",
                "<input value='sluice-token-1' type=hidden name='csrf_token'>",
                .markup
            ),
            Case(
                "<input value='abcd'><input name='csrf_token'>words",
                "<input value='abcd'><input name='csrf_token'>words",
                .markup
            ),
            Case(
                "<meta name=\"csrf-token\" content=\"abcd\">",
                "<meta name=\"csrf-token\" content=\"sluice-token-1\">",
                .markup
            ),
            Case("<label>Password: </label><b>x</b>", "<label>Password: </label><b>x</b>", .markup),
            Case("<PasswordPolicy>strong</PasswordPolicy>", "<PasswordPolicy>strong</PasswordPolicy>", .markup),
            Case("<a href=\"/x?token=abcd&amp;b=1\">", "<a href=\"/x?token=sluice-token-1&amp;b=1\">", .markup),
            Case("<password>cut", "<password>sluice-password-1", .markup),
            Case(
                "<input type=password name=x value=ab12>",
                "<input type=password name=x value=sluice-password-1>",
                .markup
            ),
            Case("<a href=/x?token=maple-42#f>x</a>", "<a href=/x?token=sluice-token-1#f>x</a>", .markup),
            Case("<a accesskey=\"h\" href=\"/\">", "<a accesskey=\"h\" href=\"/\">", .markup),
            Case("<password><hint>your pet</hint></password>", "<password><hint>your pet</hint></password>", .markup),
            Case(
                "<script>x={\"csrfToken\":\"ab12cd\"}</script>",
                "<script>x={\"csrfToken\":\"sluice-token-1\"}</script>",
                .markup
            ),
        ]
    )
    func markup(_ each: Case) { #expect(Masked.text(each.text, each.syntax) == each.masked) }

    @Test(
        "Parts of a form; no source code",
        arguments: [
            Case("x={token:t.token};cfg={apiKey:\"\(chance)\"}", "x={token:t.token};cfg={apiKey:\"\(chance)\"}", nil),
            Case(
                "--b\nContent-Disposition: form-data; name=password\n\nab12\n--b--\n",
                "--b\nContent-Disposition: form-data; name=password\n\nsluice-password-1\n--b--\n",
                .multipart
            ),
            Case(
                "--b\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Type: application/json\r\n\r\n{\"pin\":4711}\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Type: application/json\r\n\r\n{\"pin\":900000001}\r\n--b--\r\n",
                .multipart
            ),
            Case(
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\na\"b=c\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nsluice-password-1\r\n--b--\r\n",
                .multipart
            ),
            Case(
                "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nword\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nword\r\n--b--\r\n",
                .multipart
            ),
        ]
    )
    func others(_ each: Case) { #expect(Masked.text(each.text, each.syntax) == each.masked) }

    @Test("What the profile names is masked whatever it looks like: short, with spaces, a number")
    func named() {
        let rules = Masked.rules(also: ["nick"])
        for value in ["U", "Ann", "Ann Smith of Bath", "token", "x"] {
            #expect(Masked.text(#"{"nick": "\#(value)"}"#, .text, rules) == #"{"nick": "sluice-value-1"}"#)
            #expect(Masked.text("<nick>\(value)</nick>", .markup, rules) == "<nick>sluice-value-1</nick>")
        }
        #expect(Masked.text("a=1&nick=Ann&b=2", .form, rules) == "a=1&nick=sluice-value-1&b=2")
        #expect(Masked.text(#"{"nick": 17, "n": 17}"#, .text, rules) == #"{"nick": 911000001, "n": 17}"#)
        #expect(Masked.text(#"{"nick":-17.5e+2}"#, .text, rules) == #"{"nick":911000001}"#)
        #expect(
            Masked.text(#"{"nick":["Ann Lee","U"],"n":["U"]}"#, .text, rules)
                == #"{"nick":["sluice-value-1","sluice-value-2"],"n":["U"]}"#
        )
        #expect(
            Masked.text(#"{"nick":[1,-3.5,[22]]}"#, .text, rules) == #"{"nick":[911000001,911000002,[911000003]]}"#
        )
        for text in [#"{"nick": true}"#, #"{"nick": null}"#, #"{"nick": ""}"#] {
            #expect(Masked.text(text, .text, rules) == text)
        }
    }

    @Test("A name of the profile that is a word of the syntax, too, takes nothing of what is masked away")
    func syntaxWords() {
        // As the help of 'mask also' says it.
        let json = #"{"name":{"value":"Ann","other":"Bo"},"key":[true,"Cy",7,null],"a":{"name":false}}"#
        let masked = Masked.text(json, .text, Masked.rules(also: ["name", "key"]))
        for word in ["Ann", "Cy", "7"] {
            #expect(!masked.contains("\"\(word)\"") && !masked.contains(",7,"), "\(masked)")
        }
        for word in ["\"Bo\"", "true", "null", "false"] { #expect(masked.contains(word), "\(masked)") }
        let rules = Masked.rules(also: ["name", "key"])
        let part = "Content-Disposition: form-data; name=\"password\"\r\n\r\nhunter2-zz81\r\n--b--"
        #expect(Masked.text(part, .multipart, rules) == part.replacing("hunter2-zz81", with: "sluice-password-1"))
        let file = "Content-Disposition: form-data; name=\"file\"; filename=\"x.txt\"\r\n\r\ntext\r\n--b--"
        #expect(Masked.text(file, .multipart, rules) == file)
        let own = "Content-Disposition: form-data; name=\"name\"\r\n\r\nAnn B\r\n--b--"
        #expect(Masked.text(own, .multipart, rules) == own.replacing("Ann B", with: "sluice-value-1"))
        #expect(Masked.text(#"{"name": "Ann"}"#, .text, rules) == #"{"name": "sluice-value-1"}"#)
    }

    @Test("Every beginning of a text can be read, and what is masked once is masked")
    func cutOff() {
        let text =
            #"{"password":"a\"b","t":"{\"pwd\":\"x\\\"y\"}"} token=ab%2 <secret><![CDATA[x]]></secret> https://u:p@h/ "pin":12"#
        for end in 0...text.utf8.count {
            let beginning = String(decoding: text.utf8.prefix(end), as: UTF8.self)
            for syntax in [ScanSyntax.text, .form, .field, .markup, .multipart] {
                let once = Masked.text(beginning, syntax)
                #expect(Masked.text(once, syntax).replacing(/\d/, with: "") == once.replacing(/\d/, with: ""))
            }
        }
    }
}
