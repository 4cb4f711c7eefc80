import HTTPModel
import NIOCore
import Testing

@testable import Formats

@Suite("What a HAR has in another form than HAR 1.2 is read, or told")
struct HARValueTests {
    /// Reads one entry, of which some members are others than usual.
    private func read(
        entry: String = "",
        method: String = #""GET""#,
        status: String = "200",
        headers: String = #"[{"name": "A", "value": "b"}]"#,
        content: String = #""mimeType": "text/plain", "text": "hello""#
    ) -> ArchiveFixture {
        let request = #""request": {"method": \#(method), "url": "http://a.example/x"}"#
        let response = #""response": {"status": \#(status), "headers": \#(headers), "content": {\#(content)}}"#
        return ArchiveFixture(bytes: Array(#"{"log": {"entries": [{\#(entry) \#(request), \#(response)}]}}"#.utf8))
    }

    @Test("A status in quotes is one")
    func quotedStatus() {
        let fixture = read(status: #""404""#)
        #expect(fixture.losses.isEmpty && fixture.records.map(\.record.status) == [404])
        #expect(fixture.records.first?.record.state == .complete && fixture.body(0, .responseReceived) == "hello")
    }

    @Test(
        "A status that is none is told, and fields and body of its response stay",
        arguments: [
            ("-5", "is out of range"), ("200.5", "is out of range"), (#""ok""#, "cannot be read"),
            ("[200]", "cannot be read"), ("true", "cannot be read"), (#""1e2""#, "cannot be read"),
        ]
    )
    func noStatus(status: String, reason: String) throws {
        let fixture = read(status: status)
        #expect(fixture.losses == ["1 value of 'status' that \(reason)"])
        let (record, messages, _) = try #require(fixture.records.first)
        #expect(record.state == .failed && record.status == 0)
        #expect(record.failure?.message == "The response in the archive has no status that can be read.")
        #expect(messages.fields(of: .responseReceived).description == "A: b")
        #expect(fixture.body(0, .responseReceived) == "hello")
    }

    @Test("What browsers write where there is no response is no loss", arguments: ["0", "-1", "null"])
    func noResponse(status: String) {
        let fixture = read(status: status, headers: "[]", content: #""size": 0, "mimeType": "x-unknown""#)
        #expect(fixture.losses.isEmpty && fixture.records.first?.messages.responseHead == nil)
        #expect(fixture.records.first?.record.failure?.message == "The archive has no response.")
    }

    @Test(
        "Values of another type are told by their names",
        arguments: [
            (#""headers": {"A": "b"}"#, "1 value of 'headers' that cannot be read"),
            (#""headers": [{"name": 1, "value": "x"}]"#, "1 value of 'name' that cannot be read"),
            (#""content": "hello""#, "1 value of 'content' that cannot be read"),
            (#""content": {"text": 5}"#, "1 value of 'text' that cannot be read"),
            (#""statusText": null, "comment": "c", "_x": {}"#, nil),
        ] as [(String, String?)]
    )
    func types(member: String, loss: String?) {
        let request = #""request": {"method": "GET", "url": "http://a.example/x", "comment": "c"}"#
        let entry = #"{\#(request), "timings": {"comment": "c"}, "response": {"status": 200, \#(member)}}"#
        let fixture = ArchiveFixture(bytes: Array(#"{"log": {"entries": [\#(entry)]}}"#.utf8))
        #expect(fixture.error == nil && fixture.records.map(\.record.status) == [200])
        #expect(fixture.losses == (loss.map { [$0] } ?? []))
    }

    @Test(
        "A time in quotes is read; a negative one but -1 is told",
        arguments: [
            (#""5""#, 5_000, nil), (#""2.5""#, 2_500, nil), ("-1", 0, nil), ("null", 0, nil),
            ("-100.5", 0, "1 value of 'time' that is out of range"),
            (#""soon""#, 0, "1 value of 'time' that cannot be read"),
            ("{}", 0, "1 value of 'time' that cannot be read"),
        ] as [(String, Int64, String?)]
    )
    func times(time: String, total: Int64, loss: String?) {
        let fixture = read(entry: #""time": \#(time),"#)
        #expect(fixture.records.map(\.record.timings.total) == [total])
        #expect(fixture.losses == (loss.map { [$0] } ?? []))
    }

    @Test("When it began is told where it is no text")
    func start() {
        let losses = ["1 time 'startedDateTime' that cannot be read: it is 1970 now"]
        #expect(read(entry: #""startedDateTime": 12345,"#).losses == losses)
        #expect(read(entry: #""startedDateTime": [],"#).losses == losses)
        #expect(read(entry: #""startedDateTime": "garbage","#).losses == losses)
    }

    @Test(
        "A body in an encoding that cannot be undone is told, and stays as it stands",
        arguments: [
            ("aGk=", "base64", "hi", nil), ("aGk", "BASE64", "hi", nil), ("hi", "utf-8", "hi", nil),
            ("%%%", "base64", "%%%", "1 body whose base64 cannot be read: it is the text that stands there now"),
            (
                "uryyb", "rot13", "uryyb",
                "1 body's encoding 'rot13', which is not known: it is the text that stands there now"
            ),
        ] as [(String, String, String, String?)]
    )
    func encodings(text: String, encoding: String, body: String, loss: String?) {
        let fixture = read(content: #""encoding": "\#(encoding)", "text": "\#(text)""#)
        #expect(fixture.body(0, .responseReceived) == body)
        #expect(fixture.losses == (loss.map { [$0] } ?? []))
    }

    @Test("A method that is missing is GET, and told", arguments: [#""""#, "null"])
    func noMethod(method: String) {
        let fixture = read(method: method)
        #expect(fixture.records.map(\.record.method) == ["GET"])
        #expect(fixture.losses == ["1 method that is missing: it is GET now"])
    }
}
