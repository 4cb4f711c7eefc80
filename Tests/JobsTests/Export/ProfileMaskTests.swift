import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Rules
import Testing

@testable import Jobs

@Suite("Profiles in bundles have no secrets")
struct ProfileMaskTests {
    private struct NoSource: ExchangeSource {
        func exchange(_ id: ExchangeID) -> RecordedExchange? { nil }
        func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer { ByteBuffer() }
    }

    private func masked(_ text: String, after traffic: String = "") -> String {
        let source = MaskedSource(NoSource(), TextMask())
        source.collect(shown: traffic)
        source.mask.endCollecting()
        return ProfileMask(source, MaskRules()).text(text)
    }

    @Test(
        "What a rule puts into a secret's name is masked, however it is written",
        arguments: [
            #"- { add: header, on: request, name: Authorization, to: "Bearer hunter2word" }"#,
            "- { add: header, on: request, name: X-Api-Key, to: hunter2word }",
            "- add: query\n  name: access_token\n  to: 'hunter2word'",
            "- add: query\n  to: hunter2word # old\n  name: client_secret",
            "- modify: header\n  name: Cookie\n  match: sid=hunter2word\n  to: 'sid=hunter2word2'",
            "headers:\n  Authorization: Basic aHVudGVyMndvcmQ6aHVudGVyMndvcmQ=",
        ]
    )
    func rules(rule: String) {
        let text = masked("rewrite:\n  \(rule)\n")
        #expect(!text.contains("hunter2word") && !text.contains("aHVudGVyMndvcmQ6"), "\(text)")
        #expect(text.hasPrefix("rewrite:\n"))
    }

    @Test("What a rule names as a secret is one in traces, which tell the rule's name")
    func traces() {
        let profile = #"""
            rewrite:
              - name: "put key hunter2word"
                rules:
                  - { add: header, name: X-Api-Key, to: "other3word" }
                  - { modify: body, match: "ok", to: '{"password":"hunter2word"}' }
            """#
        let source = MaskedSource(NoSource(), TextMask())
        source.mask.beginRules()
        ProfileMask.collect(profile, source)
        source.mask.endCollecting()
        #expect(source.mask.secretCount == 0)
        #expect(source.masked(text: "put key hunter2word") == "put key sluice-password-1")
        #expect(source.masked(text: "added X: other3word") == "added X: sluice-key-1")
        #expect(source.masked(text: "ok, rewrite and modify the header") == "ok, rewrite and modify the header")
    }

    @Test("A secret of the traffic goes; one as short as a word of the profile spoils nothing")
    func traffic() {
        let profile = "version: 1\nrewrite:\n  - { add: header, name: X-Page, to: hunter2word }\n"
        let text = masked(profile, after: #"{"password":"hunter2word"} {"password":"1"} {"password":"header"}"#)
        #expect(!text.contains("hunter2word"))
        #expect(text.hasPrefix("version: 1\nrewrite:\n  - { add: header, name: X-Page, to: "))
    }

    @Test(
        "A pattern that names a secret stays as it is, so that the profile still loads",
        arguments: [
            #"- { modify: body, match: '/token=([^&]+)/', to: "token=x" }"#,
            "- modify: query\n  match: /password=([^&]+)/",
            #"- { modify: header, name: Cookie, match: "/sid=([^;]+)/", to: "sid=" }"#,
            #"- { modify: body, match: '/"password":"(\w+)"/' }"#,
            #"- { modify: header, name: Authorization, match: '/^Bearer (.+)$/' }"#,
            #"- { match: '/[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{20}\d{4}/' }"#,
            #"- { match: '/\babcdefghijklmn_opqrst=\d+/' }"#,
        ]
    )
    func patterns(rule: String) {
        let profile = "rewrite:\n  \(rule)\n"
        #expect(masked(profile, after: #"{"token":"hunter2word","password":"otter3word"}"#) == profile)
    }

    @Test("A secret of the traffic goes from a pattern, and so does a key")
    func secretsInPatterns() {
        let profile = "rewrite:\n  - { modify: body, match: '/\\bhunter2word|token=(a+)|9f3A7c21Bd08e6QzKm41Wx77/' }\n"
        #expect(
            masked(profile, after: #"{"password":"hunter2word"}"#)
                == "rewrite:\n  - { modify: body, match: '/\\bsluice-password-1|token=(a+)|masked-by-sluice/' }\n"
        )
    }

    @Test("A key in a comment goes, and an ordinary profile stays as it is")
    func others() throws {
        #expect(!masked("# the key is 9f3A7c21Bd08e6QzKm41Wx77, do not lose it\n").contains("9f3A7c21Bd08e6QzKm41Wx77"))
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Profiles")
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".yaml") {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(masked(text) == text, "\(name)")
            count += 1
        }
        #expect(count > 10)
    }
}
