import ExchangeCore
import HTTPModel
import NIOCore
import Testing
import Tools

@testable import Rules

@Suite("JSON in rules")
struct JSONTemplateTests {
    /// A template as JSON, for a POST of `body` to `http://a.example/v1/x`; or its first error.
    private func filled(_ yaml: String, vars: String = "{}", body: String? = nil) throws -> FilledText {
        var variables = VariableReader(VariableInputs())
        var reader = ProfileReader(file: "p.yaml")
        variables.add(try Node.read(vars, file: "p.yaml") ?? .mapping([]), &reader)
        reader.definitions[Variable.key] = variables.variables
        let node = try Node.read("json: \(yaml)", file: "p.yaml")?["json"] ?? .word("")
        guard let template = JSONTemplate(node, "json", &reader) else {
            throw ValueError(reader.issues.first?.description ?? "")
        }
        var heading = RuleHeading(name: "r", place: reader.place(node))
        heading.scope.locations = [try Location("a.example/v1/*")]
        let fields = reader.fields(.mapping([]), "a rule", keys: [])
        heading.values = try reader.values(of: heading, Tool.mapRemote.descriptor, #require(fields))
        let request = try #require(DryRunRequest(method: "POST", target: "http://a.example/v1/x"))
        var opening = ExchangeOpening(id: ExchangeID(1), url: request.url, head: request.head, clientAddress: "c:1")
        opening.conditions = ProfileConditions([(Tool.mapRemote, [heading])], isDryRun: false)?.begin(opening)
        (opening.conditions as? OpenConditions)?.facts.setRequestBody(body.map { ByteBuffer(string: $0) })
        let match = try #require(RuleList([heading], takesTunnels: false).first(opening))
        return try template.filled(ValueContext(opening, match))
    }

    @Test(
        "Plain scalars have the types of YAML 1.2; quoted and block scalars are texts",
        arguments: [
            ("true", "true"), ("False", "false"), ("~", "null"), ("NULL", "null"), ("", "null"), ("1.50", "1.50"),
            ("+7", "7"), ("-0", "-0"), ("007", "7"), (".5", "0.5"), ("5.", "5"), ("-1.e5", "-1e5"), ("1E+3", "1E+3"),
            ("0x1F", "31"), ("0o17", "15"), ("12345678901234567890123", "12345678901234567890123"), ("yes", #""yes""#),
            ("1_000", #""1_000""#), ("12:30:45", #""12:30:45""#), ("2026-11-30", #""2026-11-30""#), ("0x", #""0x""#),
            ("'true'", #""true""#), ("\"1.50\"", #""1.50""#), ("|\n  5", #""5""#), ("1e", #""1e""#), (".", #"".""#),
            ("[ 1, [ a, ~ ], {} ]", #"[1,["a",null],{}]"#),
            ("{ a: 1, 'b c': [ { d: \"e\\\"\" } ] }", #"{"a":1,"b c":[{"d":"e\""}]}"#),
            ("{ a: [], 1: x, ~: y }", #"{"a":[],"1":"x","":"y"}"#), ("'$1 $${x}'", #""$1 ${x}""#),
        ]
    )
    func types(yaml: String, json: String) throws { #expect(try filled(yaml).text == json) }

    @Test(
        "A value alone keeps its type; inside a text it is escaped",
        arguments: [
            ("'${req.json.n}'", "1.50"), ("'n ${req.json.n}'", #""n 1.50""#), ("'${req.json.s}'", #""a\"\n""#),
            ("'<${req.json.s}>'", #""<a\"\n>""#), ("'${req.json.o}'", #"{"x": [1]}"#),
            ("'${req.json.o} '", #""{\"x\": [1]} ""#), ("'${req.json.z}'", "null"), ("'${req.path}'", #""/v1/x""#),
            ("'${at.1}'", #""x""#), ("${count}", "1"),
            ("{ a: \"${n}\", b: '${m}${n}' }", #"{"a":5,"b":"{\"k\":true}5"}"#),
            ("'${m}'", #"{"k":true}"#), ("'${t}'", #""5""#),
        ]
    )
    func values(yaml: String, json: String) throws {
        let body = #"{"n":1.50,"s":"a\"\n","o":{"x": [1]},"z":null}"#
        #expect(try filled(yaml, vars: "{ n: 5, m: { k: true }, t: '5' }", body: body).text == json)
    }

    @Test(
        "Mistakes",
        arguments: [
            (".inf", "JSON has no number '.inf'"), ("[ -.INF ]", "JSON has no number"), (".NaN", "JSON has no number"),
            ("{ a: 1, 'a': 2 }", "'a' appears twice"), ("{ 1: 1, '1': 2 }", "'1' appears twice"),
            ("{ '${n}': 1 }", "p.yaml:1:10: a key cannot have values"),
            ("{ a: 'x ${nn}' }", "p.yaml:1:17: there is no value 'nn'"),
            (String(repeating: "[", count: 101) + String(repeating: "]", count: 101), "nested deeper than 100 levels"),
            ("'${req.json.a}'", "has no value: the body was not read"), ("0xFFFFFFFFFFFFFFFFFF", "JSON has no number"),
        ]
    )
    func mistakes(yaml: String, message: String) {
        let error = #expect(throws: (any Error).self) { try filled(yaml, vars: "{ n: 5 }") }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(String(describing: error))")
    }

    @Test("A text with its values has a limit")
    func limit() throws {
        let many = "[ " + String(repeating: "'${req.body}', ", count: 17) + "]"
        let error = #expect(throws: ValueError.self) { try filled(many, body: String(repeating: "x", count: 1 << 20)) }
        #expect(error?.description.contains("longer than 16 MiB") == true)
    }

    @Test(
        "Heads cannot have line breaks and NUL",
        arguments: [("a", true), ("a\rb", false), ("\n", false), ("\0", false)]
    )
    func heads(text: String, fits: Bool) { #expect(FilledText(text: text, shown: text).fitsHead == fits) }
}
