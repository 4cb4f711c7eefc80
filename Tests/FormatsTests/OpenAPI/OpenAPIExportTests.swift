import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("An API is described by its exchanges")
struct OpenAPIExportTests {
    private typealias Object = [String: Any]

    private func add(
        _ source: MemorySource,
        _ line: String,
        _ type: String? = nil,
        _ body: String = "",
        headers: String = "",
        status: Int = 200,
        answerType: String = "application/json",
        answer: String = "{}"
    ) throws {
        let words = line.split(separator: " ")
        let url = "http://api.test\(words[1])"
        let head = "\(words[0]) \(words[1]) HTTP/1.1\r\nHost: api.test\r\n\(headers)"
        try source.add(
            url,
            request: head + (type.map { "Content-Type: \($0)\r\n" } ?? "") + "\r\n",
            requestBody: body.utf8,
            response: "HTTP/1.1 \(status) X\r\nContent-Type: \(answerType)\r\n\r\n",
            responseBody: answer.utf8
        )
    }

    private func export(_ source: MemorySource) throws -> (text: String, api: Object, remark: String?) {
        var output = ByteBuffer()
        var export = OpenAPIExport(source: source, version: "1.2.3") { output.writeImmutableBuffer($0) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let text = String(buffer: output)
        let api = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
        return (text, api, export.remark)
    }

    /// The value at a path of members, with `.` for what separates them; names in paths of an API have no dot here.
    private func at(_ path: String..., in api: Object) -> Any? {
        path.reduce(api as Any?) { value, name in (value as? Object)?[name] }
    }

    @Test("Identifiers in paths become parameters with names and types")
    func paths() throws {
        let source = MemorySource()
        try add(source, "GET /users/41/posts/7")
        try add(source, "GET /users/42/posts/8")
        try add(source, "GET /items/0b6f7a52-8f0e-4f3c-9d39-5a2a1c9d0e11.json")
        try add(source, "DELETE /users/42/posts/8", status: 204, answer: "")
        let (_, api, remark) = try export(source)
        let paths = try #require(at("paths", in: api) as? Object)
        #expect(paths.keys.sorted() == ["/items/{itemId}.json", "/users/{userId}/posts/{postId}"])
        let get = try #require(at("/users/{userId}/posts/{postId}", "get", in: paths) as? Object)
        let parameters = try #require(get["parameters"] as? [Object])
        #expect(parameters.map { $0["name"] as? String } == ["userId", "postId"])
        #expect(parameters.allSatisfy { $0["in"] as? String == "path" && $0["required"] as? Bool == true })
        #expect((parameters[0]["schema"] as? Object)?["type"] as? String == "integer")
        #expect(get["description"] as? String == "Seen 2 times, first in exchange 1.")
        let item = try #require((at("/items/{itemId}.json", "get", "parameters", in: paths) as? [Object])?.first)
        #expect((item["schema"] as? Object)?["format"] as? String == "uuid")
        #expect(at("/users/{userId}/posts/{postId}", "delete", "responses", "204", "content", in: paths) == nil)
        let words = at("info", "description", in: api) as? String
        #expect(words?.hasPrefix("Inferred by Sluice 1.2.3 from 4 recorded exchanges.") == true)
        #expect(remark == nil)
    }

    @Test(
        "A path's template",
        arguments: [
            ("/", "/"), ("/users", "/users"), ("/companies/12/", "/companies/{companyId}/"), ("/12/13", "/{id}/{id2}"),
            ("/boxes/1/2", "/boxes/{boxId}/{boxId2}"), ("/a/{x}/1", "/a/%7Bx%7D/{xId}"),
            ("/addresses/7", "/addresses/{addressId}"), ("/cities/7", "/cities/{cityId}"),
            ("/reset/sluice-token-1", "/reset/{resetId}"), ("/bot12:sluice-token-1/send", "/bot12:{id}/send"),
            ("/sluice-guide/intro", "/sluice-guide/intro"),
            ("/user-groups/9", "/user-groups/{userGroupId}"),
        ]
    )
    func templates(path: String, template: String) {
        let found = PathTemplate(path)
        #expect(found.text == template)
        #expect(Set(found.values.map(\.name)).count == found.values.count)
        for value in found.values {
            #expect(found.text.contains("{\(value.name)}") && path.contains(value.text ?? "?"))
        }
    }

    @Test("Schemas fit all that was seen: types, members that are required, formats, maps")
    func schemas() throws {
        let source = MemorySource()
        let first =
            #"{"id":1,"name":"Ada","at":"2026-11-23T08:00:00Z","mail":"a@b.example","tags":["x"],"more":{"deep":null},"#
            + #""byId":{"0b6f7a52-8f0e-4f3c-9d39-5a2a1c9d0e11":{"n":1}},"either":1,"size":1.5}"#
        let second =
            #"{"id":3000000000,"name":null,"at":"2026-11-24T08:00:00.25+01:00","mail":"nobody","tags":[],"more":{},"#
            + #""byId":{},"either":"one","size":2,"extra":true}"#
        try add(source, "GET /things", answer: first)
        try add(source, "GET /things", answer: second)
        let (text, api, _) = try export(source)
        let schema = try #require(
            at("paths", "/things", "get", "responses", "200", "content", "application/json", "schema", in: api)
                as? Object
        )
        let properties = try #require(schema["properties"] as? Object)
        func property(_ name: String) -> Object { properties[name] as? Object ?? [:] }
        #expect(
            schema["required"] as? [String] == ["id", "name", "at", "mail", "tags", "more", "byId", "either", "size"]
        )
        #expect(property("id")["type"] as? String == "integer" && property("id")["format"] as? String == "int64")
        #expect(property("name")["type"] as? [String] == ["string", "null"])
        #expect(property("at")["format"] as? String == "date-time")
        #expect(property("mail")["type"] as? String == "string" && property("mail")["format"] == nil)
        #expect((property("tags")["items"] as? Object)?["type"] as? String == "string")
        #expect(
            property("either")["type"] as? [String] == ["string", "integer"] && property("either")["format"] == nil
        )
        #expect(property("size")["type"] as? String == "number")
        #expect(property("extra")["type"] as? String == "boolean")
        let map = try #require(property("byId")["additionalProperties"] as? Object)
        #expect(property("byId")["properties"] == nil && map["required"] as? [String] == ["n"])
        #expect(property("more")["required"] == nil)
        for value in ["Ada", "nobody", "b.example", "0b6f7a52", "2026-11"] {
            #expect(!text.contains(value), "\(value)")
        }
    }

    @Test("A member that every object has is described by all of its values, also beside the entries of a map")
    func mixed() throws {
        let source = MemorySource()
        try add(source, "GET /mixed", answer: #"{"a":1,"0b6f7a52-8f0e-4f3c-9d39-5a2a1c9d0e11":{"n":1}}"#)
        try add(source, "GET /mixed", answer: #"{"a":"one","a":null,"b":true}"#)
        let (_, api, _) = try export(source)
        let schema = try #require(
            at("paths", "/mixed", "get", "responses", "200", "content", "application/json", "schema", in: api)
                as? Object
        )
        #expect((schema["properties"] as? Object)?.keys.sorted() == ["a"] && schema["required"] as? [String] == ["a"])
        #expect(at("properties", "a", "type", in: schema) as? [String] == ["string", "integer", "null"])
        #expect(at("additionalProperties", "type", in: schema) as? [String] == ["object", "boolean"])
    }

    @Test("Queries, forms and files are described, and how clients authenticate")
    func requests() throws {
        let source = MemorySource()
        let key = "X-Api-Key: abc\r\n"
        try add(source, "GET /search?q=two+words&page=1&tag=a&tag=b", headers: key)
        try add(source, "GET /search?q=x&page=2&exact=true", headers: "Authorization: Bearer abc\r\n")
        try add(source, "POST /login", "application/x-www-form-urlencoded", "user=ada&pin=0123&age=36")
        let part =
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n3\r\n--b--\r\n"
        try add(source, "PUT /files", "multipart/form-data; boundary=b", part, status: 201)
        let (text, api, _) = try export(source)
        let search = try #require(at("paths", "/search", "get", in: api) as? Object)
        let parameters = try #require(search["parameters"] as? [Object])
        #expect(parameters.map { $0["name"] as? String } == ["q", "page", "tag", "exact"])
        #expect(parameters.map { $0["required"] as? Bool } == [true, true, false, false])
        let types = parameters.map { ($0["schema"] as? Object)?["type"] as? String }
        #expect(types == ["string", "integer", "array", "boolean"])
        #expect((search["security"] as? [Object])?.map { $0.keys.sorted() } == [["x-api-key"], ["bearer"]])
        let schemes = try #require(at("components", "securitySchemes", in: api) as? Object)
        #expect(at("bearer", "scheme", in: schemes) as? String == "bearer")
        #expect(at("x-api-key", "in", in: schemes) as? String == "header")
        let login = try #require(at("paths", "/login", "post", "requestBody", in: api) as? Object)
        #expect(login["required"] as? Bool == true)
        let fields = try #require(
            at("content", "application/x-www-form-urlencoded", "schema", "properties", in: login) as? Object
        )
        // A zero in front would be lost in a number.
        #expect(
            at("pin", "type", in: fields) as? String == "string"
                && at("age", "type", in: fields) as? String == "integer"
        )
        let file = at("paths", "/files", "put", "requestBody", "content", "multipart/form-data", "schema", in: api)
        let parts = (file as? Object)?["properties"] as? Object
        #expect(
            (parts?["file"] as? Object)?.isEmpty == true && at("n", "type", in: parts ?? [:]) as? String == "integer"
        )
        #expect(!text.contains("hello") && !text.contains("ada") && !text.contains("abc"))
    }

    @Test("What is no call of an API is left out and said")
    func others() throws {
        let source = MemorySource()
        try add(source, "GET /logo.png", answerType: "image/png", answer: "x")
        try add(source, "GET /app.js", answerType: "text/javascript", answer: "x")
        try add(source, "PROPFIND /dav")
        try add(source, "GET /broken", answer: "{\"a\":")
        try source.add("http://other.test/x", request: "GET /x HTTP/1.1\r\nHost: other.test\r\n\r\n")
        let (_, api, remark) = try export(source)
        #expect((api["paths"] as? Object)?.keys.sorted() == ["/broken", "/x"])
        #expect(at("paths", "/x", "get", "responses", "default", in: api) != nil)
        let content = at("paths", "/broken", "get", "responses", "200", "content", "application/json", in: api)
        #expect((content as? Object)?.isEmpty == true)
        #expect((at("paths", "/x", "servers", in: api) as? [Object])?.first?["url"] as? String == "http://other.test")
        let words = try #require(remark)
        for phrase in [
            "exchanges left out, not calls of an API (tunnels, WebSockets, gRPC, parts of pages): 2",
            "exchanges left out, methods that OpenAPI 3.1 does not know: 1", "bodies without a schema",
            "servers in one description (a filter such as host:NAME chooses one): 2",
        ] {
            #expect(words.contains(phrase), "\(words)")
        }
    }

    @Test("Nothing recorded, hostile names and deep values make a description all the same")
    func hostile() throws {
        let empty = try export(MemorySource())
        #expect((empty.api["paths"] as? Object)?.isEmpty == true)
        let source = MemorySource()
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        try add(source, "GET /deep", answer: deep)
        let wide = "{" + (0..<600).map { "\"name\(Self.word($0))\":1" }.joined(separator: ",") + "}"
        try add(source, "GET /wide", answer: wide)
        try add(source, "GET /names?%22%0a%00=1&=2&a%5B%5D=1", answer: #"{"\"\u0000<":1,"a":1,"a":"x"}"#)
        let (text, api, _) = try export(source)
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        let members = at("paths", "/wide", "get", "responses", "200", "content", "application/json", "schema", in: api)
        #expect(((members as? Object)?["properties"] as? Object)?.count == 256)
        #expect((members as? Object)?["additionalProperties"] != nil)
    }

    @Test("Statuses without a key of OpenAPI are its default; servers and media types without end are not")
    func bounds() throws {
        let source = MemorySource()
        for status in [200, 799, 999] { try add(source, "GET /odd", status: status, answerType: "text/plain") }
        for number in 0..<60 { try add(source, "GET /types", answerType: "application/x-\(number)") }
        for number in 0..<1_002 {
            try source.add("http://h\(number).test/x", request: "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
        }
        let (_, api, remark) = try export(source)
        let responses = try #require(at("paths", "/odd", "get", "responses", in: api) as? Object)
        #expect(responses.keys.sorted() == ["200", "default"])
        #expect(at("default", "content", "text/plain", "schema", "type", in: responses) as? String == "string")
        let types = at("paths", "/types", "get", "responses", "200", "content", in: api) as? Object
        #expect(types?.count == 50)
        #expect((api["servers"] as? [Object])?.count == 1_000)
        #expect(at("paths", "/x", "get", "description", in: api) as? String == "Seen 999 times, first in exchange 64.")
        #expect(remark?.contains("exchanges left out, servers beyond the first 1000: 3") == true, "\(remark ?? "")")
    }

    /// A word of letters for a number.
    private static func word(_ number: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        return String([letters[number / 26 % 26], letters[number % 26]])
    }
}
