import HTTPModel
import NIOCore
import Testing

@testable import Formats

@Suite("Files of cURL commands are read")
struct CurlFileTests {
    @Test("Commands that a browser copies for bash, one after the other; files are named and not read")
    func bash() throws {
        let fixture = try ArchiveFixture("built-bash.curl")
        #expect(fixture.error == nil)
        let records = fixture.records.map(\.record)
        #expect(
            records.map { "\($0.method) \($0.url)" } == [
                "GET https://shop.example.com/items?page=2", "POST https://shop.example.com/orders",
                "PUT https://shop.example.com/upload",
            ]
        )
        #expect(records.allSatisfy { $0.state == .complete && $0.status == 0 && $0.startedAt == 1_000_000 })
        let head = String(buffer: try #require(fixture.records[0].messages.requestHead))
        #expect(head.contains("Host: shop.example.com\r\n") && head.contains("Cookie: sid=0123; theme=dark\r\n"))
        #expect(fixture.records[0].messages.responseHead == nil)
        #expect(fixture.body(1, .requestReceived) == #"{"item":"lock's key","n":2}"#)
        #expect(fixture.losses.contains { $0.contains("body in a file") })
    }

    @Test(
        "A command that cannot be read drops itself alone",
        arguments: ["-H 'X: y", "-d \"$(cat", "\"$(printf 'a\\0"]
    )
    func unclosed(_ words: String) throws {
        let text = "curl http://a/\ncurl \(words) http://b/\n  curl http://c/\ncurl ftp://d\ncurl http://e/\n"
        let fixture = ArchiveFixture(bytes: Array(text.utf8))
        #expect(fixture.error == nil)
        #expect(fixture.records.map(\.record.url.description) == ["http://a/", "http://c/", "http://e/"])
        #expect(fixture.losses.count == 2, "\(fixture.losses)")
    }

    @Test("Commands that a browser copies for cmd")
    func cmd() throws {
        let fixture = try ArchiveFixture("built-cmd.curl")
        #expect(fixture.error == nil)
        #expect(
            fixture.records.map { "\($0.record.method) \($0.record.url)" } == [
                "GET https://shop.example.com/a?x=1&y=2", "POST https://shop.example.com/b",
            ]
        )
        #expect(fixture.body(1, .requestReceived) == "k=v")
    }

    @Test(
        "Cut anywhere: no crash, and never more commands than there are",
        arguments: ["built-bash.curl", "built-cmd.curl"]
    )
    func cut(name: String) throws {
        let bytes = try ArchiveFixture.bytes(name)
        let whole = ArchiveFixture(bytes: bytes).records.count
        for count in 1..<bytes.count {
            #expect(ArchiveFixture(bytes: Array(bytes.prefix(count))).records.count <= whole, "\(count)")
        }
    }

    @Test(
        "What is long takes as long as it is: empty lines, options that are not known, fields beside an option",
        .timeLimit(.minutes(1)),
        arguments: [
            ("curl ^\"http://a/^\" \n", "\n", 400_000), ("curl ^\"http://a/^\" &", "& ", 200_000),
            ("curl http://a/", " -Hb:c --compressed", 20_000),
        ]
    )
    func long(start: String, part: String, count: Int) {
        let fixture = ArchiveFixture(bytes: Array((start + String(repeating: part, count: count)).utf8))
        #expect(fixture.error == nil && fixture.records.map(\.record.url.description) == ["http://a/"])
    }

    @Test("Of many options that are not taken over the first ones are named", .timeLimit(.minutes(1)))
    func unread() {
        let options = (0..<60_000).map { "--no\($0)" }.joined(separator: " ")
        let fixture = ArchiveFixture(bytes: Array("curl http://a/ \(options)".utf8))
        let told = fixture.losses.first ?? ""
        #expect(told.contains("--no0, ") && told.contains("--no19") && told.hasSuffix(", and others"), "\(told)")
        #expect(!told.contains("--no20"))
    }

    @Test("What a command says of its request is kept to the byte: an empty body, Latin-1, tabs, no Host, a hash")
    func bytes() throws {
        func head(_ words: String) throws -> [UInt8] {
            let fixture = ArchiveFixture(bytes: Array("curl \(words)".utf8))
            #expect(fixture.losses.isEmpty && fixture.records.count == 1, "\(fixture.losses)")
            return Array(try #require(fixture.records.first?.messages.requestHead).readableBytesView)
        }
        let post = Array("POST http://h/a HTTP/1.1\r\nHost: h\r\n".utf8)
        let form = Array("Content-Type: application/x-www-form-urlencoded\r\n".utf8)
        #expect(try head("http://h/a --data-raw ''") == post + form + Array("Content-Length: 0\r\n\r\n".utf8))
        let none = try head("http://h/a -X POST -H 'Content-Length:' --data-raw '' -H 'Content-Type:'")
        #expect(none == post + [0x0D, 0x0A])
        let get = Array("GET http://h/a HTTP/1.1\r\n".utf8)
        #expect(try head("http://h/a -H 'Host:'") == get + [0x0D, 0x0A])
        let value = try head(#"http://h/a -H 'Host:' -H 'X: a'"$(printf '\351\011')"'b'"#)
        #expect(value == get + Array("X: a".utf8) + [0xE9, 0x09] + Array("b\r\n\r\n".utf8))
        let target = try head(#"-H 'Host:' --request-target '/'"$(printf '\351')"'%23x?y#frag' http://h/"#)
        #expect(target == Array("GET http://h/".utf8) + [0xE9] + Array("%23x?y#frag HTTP/1.1\r\n\r\n".utf8))
        let hash = ArchiveFixture(bytes: Array("curl --request-target '/a#b?c' http://h/".utf8)).records.first?.record
        #expect(hash?.url.path == "/a#b" && hash?.url.query == "c")
    }

    @Test("What a file is is told by its content")
    func formats() {
        func format(_ text: String) -> ArchiveFormat? { ArchiveFormat(beginning: Array(text.utf8)) }
        #expect(format("SQLite format 3\0") == nil && format("") == nil && format("hello") == nil)
        #expect(format(" {\"log\"") == .har && format("\u{FEFF}[") == .charlesJSON)
        #expect(format("<?xml version='1.0'?>\n<!-- <a> --><charles-session>") == .charlesXML)
        #expect(format("<?xml?><?charles x?><charles-export>") == .charlesSettings)
        #expect(format("<configuration>") == .charlesSettings && format("<html a>") == .otherXML("html"))
        #expect(format("<") == .otherXML(""))
        #expect(format("12:4:type;4:http;") == .mitmproxy && format("12:30") == nil)
        #expect(format("#!/bin/sh\n  curl 'http://a/'") == .curl && format("$ curl http://a") == .curl)
        #expect(format("curling is a sport") == nil)
        #expect(ArchiveFormat(beginning: [0x1F, 0x8B, 8]) == .gzip)
        #expect(
            ArchiveFormat(beginning: [0xFF, 0xFE, 0x7B, 0]) == .har
                && ArchiveFormat(beginning: [0, 0x5B]) == .charlesJSON
        )
        #expect(
            ArchiveFormat(beginning: [0x50, 0x4B, 3, 4]) == .zip
                && ArchiveFormat(beginning: [0x50, 0x4B, 5, 6]) == .zip
        )
    }

    @Test(
        "Formats that are not read have a name and a way out",
        arguments: [
            ([0xAC, 0xED, 0, 5, 0x73], .javaObjects), ([0xD4, 0xC3, 0xB2, 0xA1], .packets),
            ([0xA1, 0xB2, 0x3C, 0x4D], .packets), ([0x0A, 0x0D, 0x0D, 0x0A, 0x1C], .packets),
            (Array("{\n \"constants\": {}".utf8), .netLog),
            (Array(#"[ {"url": "http://h/", "dnsTime": 5}"#.utf8), .whistle),
            (Array(#"<?xml version="1.0"?><!DOCTYPE items [<!ELEMENT items>]><items burpVersion="2">"#.utf8), .burp),
        ] as [([UInt8], ArchiveFormat.Unread)]
    )
    func unread(_ beginning: [UInt8], _ format: ArchiveFormat.Unread) {
        #expect(ArchiveFormat(beginning: beginning) == .unread(format))
    }

    @Test("Burp's element alone is not Burp's file, and an array without whistle's members is not whistle's")
    func likeUnread() {
        #expect(ArchiveFormat(beginning: Array("<items>".utf8)) == .otherXML("items"))
        #expect(ArchiveFormat(beginning: Array(#"[{"host": "dnsTime"}"#.utf8)) == .charlesJSON)
    }
}
