import Testing

@testable import Masking

@Suite("Code, in which an expression stands where a text has a value")
struct CodeTests {
    private func body(_ text: String, _ type: String) -> String {
        String(decoding: Masked.body(Array(text.utf8), type), as: UTF8.self)
    }

    private static let lines = [
        "const token = getToken(req);", "const token = await getToken(req);", "password: this.form.password,",
        "const token = req.headers.authorization.split(' ')[1];", "if (!token) throw new Error('No token');",
        "apiKey = process.env.API_KEY", "apiKey: process.env['API_KEY'],", "token: string;", "readonly token: string;",
        "var csrfToken = document.querySelector('meta').content", "token: string | null;", "password: String!",
        "password: [String!]!", "token: Option<String>,", "password: &str,", "password: pw,", "token: user.token,",
        "self.token = os.environ[\"TOKEN\"]", "password = getpass.getpass(\"Password: \")", "token = tokens[i];",
        "$password = $_POST['password'];", "$token = $request->input('token');",
        "token := r.Header.Get(\"Authorization\")",
        "client = Client(api_key=api_key, secret=config.secret)", "token = strtok(NULL, \" \");",
        "token: Optional[str] = None",
        "TOKEN=$(cat /run/secrets/token)", "  MasterUserPassword: !Ref DbPassword", "password: *default_password",
        "headers: { Authorization: `Bearer ${token}` }", "password: z.string().min(8),", "if (token==expected) return;",
        "password: { type: String, required: true },", "print(\"Token: \" + repr(token)) # \"x\"", "apiKey: # set this",
        "token = Name.Builtin.Pseudo", "username, password = credentials", "token = base64.b64encode(data)",
        "password = models.CharField(max_length=128)", "authorization = b\"Basic \" + encoded",
        "pwd: ModuleType | None = None",
        "user_pass = '%s:%s' % (user, pw)", "const apiKey = import.meta.env.VITE_API_KEY;", "password: null,",
        "let apiKey = Bundle.main.infoDictionary?[\"API_KEY\"]", "next_token = (start, end)", "id-token: write",
    ]

    @Test("stays: in a text, a string of JSON, a page and a script of it", arguments: lines)
    func expressions(line: String) {
        let text = "a\n\(line)\nb\n"
        #expect(Masked.text(text) == text)
        let escaped = line.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let json = #"{"code":"a\n\#(escaped)\nb\n"}"#
        #expect(Masked.text(json) == json)
        for page in ["<pre>\n\(text)</pre>", "<script>\n\(text)</script>"] { #expect(body(page, "text/html") == page) }
        #expect(body(text, "application/javascript") == text)
    }

    @Test(
        "has texts that are secrets",
        arguments: [
            "const token = \"VALUE\";", "apiKey = \"VALUE\"", "$password = \"VALUE\";", "password: 'VALUE',",
            "secret: process.env.SECRET || \"VALUE\",", "TOKEN = os.getenv(\"TOKEN\", \"VALUE\")", "token := \"VALUE\"",
            "password = b\"VALUE\"", "password = f'VALUE'", "password: \"VALUE\"",
        ]
    )
    func literals(line: String) {
        let text = line.replacing("VALUE", with: chance)
        for (text, type) in [
            (text, "text/plain"), (text, "text/typescript"), ("<pre>\n\(text)\n</pre>", "text/html"),
            ("<script>\n\(text)\n</script>", "text/html"), (text, "application/javascript"),
        ] {
            let masked = body(text, type)
            #expect(masked.contains("sluice-") && !masked.contains(chance), "\(type): \(masked)")
            #expect(masked.hasPrefix(text.prefix { $0 != "9" }), "\(masked)")
        }
    }

    @Test("A quote may end a text that has a name in it")
    func closingQuotes() {
        for text in [
            "url = \"http://h/?token=\" + x + \"y\"", "remove any \"Authorization:\" headers before \"x\" y",
            "$cas_token = $item->getCasId();", "usernameSecret=sasl_username,", "ask('Password: ') + 'x'",
        ] { #expect(Masked.text(text + "\n") == text + "\n") }
        for text in ["it's password: 'hunter2'", "Bob's password:'hunter2'", "say 'x' password: 'hunter2'"] {
            #expect(Masked.text(text) == text.replacing("hunter2", with: "sluice-password-1"))
        }
    }

    @Test("Settings are no code", arguments: ["mapleotter", "Mapleotter", "maple.otter", "Welcome!", "MapleOtter42"])
    func settings(value: String) {
        for line in [
            "PASSWORD=VALUE", "export PASSWORD=VALUE", "password: VALUE", "password = VALUE",
            "Server=x;Password=VALUE;",
            "login(user=bob, password=VALUE)", "my password = VALUE", "db.password = VALUE",
            "docker run -e PASSWORD=VALUE x",
        ] {
            let text = line.replacing("VALUE", with: value) + "\n"
            #expect(!Masked.text(text).contains(value), "\(text)")
        }
    }

    @Test("Of a long source the words that it has behind equals signs stay")
    func sources() {
        let source = "import re\n\nclass Lexer:\n    def next(self):\n        token = nextchar\n    return token\n"
        #expect(Masked.text("\n" + source) == "\n" + source)
        #expect(Masked.text("token = nextchar\n") == "token = sluice-token-1\n")
    }

    @Test("A literal under the very name of a secret is one in a script, a word is none")
    func scripts() {
        #expect(Masked.text("x={password:\"hunter2xyz\"}", .script) == "x={password:\"sluice-password-1\"}")
        for code in ["x={password:\"password-input\"}", "x={token:\"heading12\"}", "x={password:\"a.b2c3d4e5\"}"] {
            #expect(Masked.text(code, .script) == code)
        }
    }

    @Test("A script that began before what is looked at is one")
    func longScripts() {
        let text = "x(); token = getToken; password = other.pw }</script><p>token = 9f3A7c21Bd08</p>"
        #expect(Masked.text(text, .markup) == text.replacing("9f3A7c21Bd08", with: "sluice-token-1"))
    }
}
