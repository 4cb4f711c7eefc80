import Foundation
import HTTPModel
import Rules
import Testing
import Tools

@Suite("A profile as it takes effect")
struct ListingTests {
    private static let text = """
        version: 1
        name: everything
        off: rewrite
        intercept: { except: "*.bank.example" }
        access: 10.0.0.0/8
        rewrite: { name: mark, at: "*", method: GET, rules: [{ add: header, on: response, name: X, to: "1" }] }
        block:
          - { name: ads, at: [ "*.ads.example", ads.example ], except: good.ads.example }
          - { name: more, at: x.ads.example, except: good.ads.example }
          - { at: b.example, enabled: false, action: drop }
        expect: { request: GET http://a.example/, fires: [] }
        assert: [ { filter: "*" }, { filter: "*", count: 1 } ]
        """

    @Test("People read tools in the fixed order, rules with place, scope and marks")
    func listing() throws {
        let text = try RuleProfile(ListingTests.text, file: "p.yaml").listing
        #expect(
            text == """
                everything
                read from p.yaml
                requests pass: access → allow → block → no-caching → block-cookies → rewrite → map-remote → map-local → \
                breakpoints → dns-spoofing → throttle → server
                responses pass: server → no-caching → block-cookies → rewrite → mirror → breakpoints → throttle → client

                intercept
                      decrypted: every host except *.bank.example

                access
                      this machine and 10.0.0.0/8

                block
                      the first rule that matches decides
                  1. ads  (p.yaml:8:5)
                       *.ads.example, ads.example except good.ads.example: answer 403
                  2. more  (p.yaml:9:5)  [shadowed by 'ads']
                       x.ads.example except good.ads.example: answer 403
                  3. rule 3  (p.yaml:10:5)  [disabled]
                       b.example: drop the connection

                rewrite  (switched off)
                  1. mark  (p.yaml:6:10)
                       GET *: add header X to 1

                1 expectation, 2 assertions

                """
        )
    }

    @Test("Programs read the same as JSON")
    func json() throws {
        struct Listing: Decodable {
            struct Tool: Decodable {
                let tool: String
                let selection: String
                let off: Bool
                let rules: [Rule]
            }

            struct Rule: Decodable {
                let name: String
                let line: Int
                let enabled: Bool
                let shadowedBy: String?
            }

            let name: String
            let files: [String]
            let tools: [Tool]
            let expectations: [String]
        }
        let text = try RuleProfile(ListingTests.text, file: "p.yaml").listingJSON
        let listing = try JSONDecoder().decode(Listing.self, from: Data(text.utf8))
        #expect(listing.name == "everything")
        #expect(listing.files == ["p.yaml"])
        #expect(listing.tools.map(\.tool) == ["block", "rewrite"])
        #expect(listing.tools.map(\.selection) == ["first", "all"])
        #expect(listing.tools.map(\.off) == [false, true])
        #expect(listing.tools[0].rules.map(\.shadowedBy) == [nil, "ads", nil])
        #expect(listing.tools[0].rules.map(\.enabled) == [true, true, false])
        #expect(listing.expectations == ["GET http://a.example/"])
    }

    @Test("A profile without rules says little")
    func empty() throws {
        #expect(
            try RuleProfile("version: 1", file: "p.yaml").listing.hasPrefix("read from p.yaml\nrequests pass: access")
        )
    }
}
