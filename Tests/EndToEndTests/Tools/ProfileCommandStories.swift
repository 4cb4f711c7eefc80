import Foundation
import HTTPModel
import Support
import Testing

extension UserStories {
    @Suite("Commands about profiles")
    struct ProfileCommandStories {
        private static let bad = """
            version: 1
            blok: { at: "x" }
            rewrite:
              - at: "https://a.test/*"
                rules:
                  - { modify: body, on: response, match: '/(/', to: x }
            block:
              - { at: "a.test", acton: drop }
              - { at: "*.b.test" }
              - { at: "www.b.test" }
            map-local: { from: "c.test", to: nowhere/ }

            """

        private static let good = """
            version: 1
            block: { name: beacon, at: "https://localhost/blocked*" }
            rewrite:
              { name: mark, at: "https://localhost/*", rules: [ { add: header, on: request, name: X-A, to: b } ] }
            map-remote: { name: users, from: "https://localhost/v1/users", to: "https://127.0.0.1/x" }
            expect:
              - { request: "GET https://localhost/blocked", fires: [ block/beacon ], blocked: true }
              - request: "GET https://localhost/v1/users"
                fires: [ rewrite, map-remote ]
                sends: "https://127.0.0.1/x"

            """

        @Test("check says file, line and column, and exits with 1 for errors")
        func check() async throws {
            let scratch = try Scratch()
            let bad = try scratch.write("bad.yaml", ProfileCommandStories.bad)
            let outcome = try await SluiceProcess.run(["profile", "check", bad], scratch: scratch)
            #expect(outcome.status == 1)
            let text = outcome.text + outcome.errors
            for line in [
                "bad.yaml:2:1: a profile has no key 'blok' (did you mean 'block'?)",
                "bad.yaml:6:49: bad regular expression: missing closing parenthesis",
                "bad.yaml:8:21: a block rule has no key 'acton' (did you mean 'action'?)",
            ] { #expect(text.contains(line), "\(line) in \(text)") }
            let run = try await SluiceProcess.run(
                ["run", "--listen", "127.0.0.1:0", "--profile", bad],
                scratch: scratch
            )
            #expect(run.status == 1)
            #expect(run.errors.contains("bad.yaml:8:21: "))

            let lints = try scratch.write(
                "lints.yaml",
                "version: 1\nblock:\n  - { at: \"*.b.test\" }\n  - { at: \"www.b.test\" }\n"
                    + "map-local: { from: \"c.test\", to: nowhere/ }\n"
            )
            for (options, status) in [([], 0), (["--strict"], 1)] {
                let outcome = try await SluiceProcess.run(["profile", "check", lints] + options, scratch: scratch)
                #expect(outcome.status == Int32(status))
                let text = outcome.text + outcome.errors
                #expect(text.contains("lints.yaml:4:5: warning: "), "\(text)")
                #expect(text.contains("lints.yaml:5:34: warning: "), "\(text)")
            }
            let missing = try await SluiceProcess.run(
                ["profile", "check", scratch.path("none.yaml")],
                scratch: scratch
            )
            #expect(missing.status == 1)
        }

        @Test("test prints TAP, and exits with 1 where something is not as expected")
        func test() async throws {
            let scratch = try Scratch()
            let good = try scratch.write("good.yaml", ProfileCommandStories.good)
            let passed = try await SluiceProcess.run(["profile", "test", good], scratch: scratch)
            #expect(passed.status == 0)
            #expect(passed.text.hasPrefix("TAP version 14\n1..2\nok 1 - "), "\(passed.text)")
            let wrong = try scratch.write(
                "wrong.yaml",
                ProfileCommandStories.good
                    + "  - { name: wrong, request: GET https://localhost/blocked, answers: 200 }\n"
            )
            let failed = try await SluiceProcess.run(["profile", "test", wrong], scratch: scratch)
            #expect(failed.status == 1)
            #expect(failed.text.contains("\n1..3\n"))
            #expect(failed.text.contains("\nnot ok 3 - wrong\n"), "\(failed.text)")
            #expect(failed.text.contains("came: \"403\""), "\(failed.text)")
        }

        @Test("show has the tools in the order in which they act, why has the first field that did not match")
        func showAndWhy() async throws {
            let scratch = try Scratch()
            let good = try scratch.write("good.yaml", ProfileCommandStories.good)
            let shown = try await SluiceProcess.run(["profile", "show", good], scratch: scratch)
            #expect(shown.status == 0)
            let order = [
                "access", "allow", "block", "no-caching", "block-cookies", "rewrite", "map-remote", "map-local",
                "breakpoints", "dns-spoofing", "throttle",
            ]
            let line = shown.text.split(separator: "\n").first { $0.contains("requests pass") } ?? ""
            let named = line.split(whereSeparator: { !$0.isLetter && $0 != "-" }).map(String.init)
            #expect(named.filter(order.contains) == order, "\(shown.text)")
            let places = ["\nblock", "\nrewrite", "\nmap-remote"].map { shown.text.range(of: $0)?.lowerBound }
            #expect(!places.contains(nil))
            #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())

            let why = try await SluiceProcess.run(
                ["profile", "why", good, "GET", "https://localhost/v1/users/"],
                scratch: scratch
            )
            #expect(why.status == 0)
            #expect(why.text.contains("path: pattern /blocked* does not match /v1/users/"), "\(why.text)")
            #expect(why.text.contains("path: pattern /v1/users does not match /v1/users/ (add /*?)"), "\(why.text)")
            #expect(why.text.contains("goes out: GET https://localhost/v1/users/"), "\(why.text)")
            let blocked = try await SluiceProcess.run(
                ["profile", "why", good, "GET", "https://localhost/blocked/now"],
                scratch: scratch
            )
            #expect(blocked.text.contains("403"), "\(blocked.text)")
            let usage = try await SluiceProcess.run(["profile", "why", good, "GET"], scratch: scratch)
            #expect(usage.status == 2)
        }

        @Test("why SESSION ID tells of recorded exchanges, and check --against of a whole session")
        func recorded() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                """
                block: { name: beacon, at: "https://localhost:\(nginx.secure)/blocked*" }
                rewrite:
                  - name: mark
                    at: "https://localhost:\(nginx.secure)/*"
                    rules: [ { add: header, on: response, name: X-A, to: b } ]
                  - name: nothing
                    at: "https://localhost:\(nginx.secure)/never"
                    rules: [ { modify: status, to: 500 } ]
                """
            }
            for path in ["/page", "/blocked/now"] {
                _ = try await sluice.answer("https://localhost:\(nginx.secure)\(path)")
                _ = try await sluice.exchange(path: path)
            }
            _ = try await sluice.stop()
            let page = try await sluice.told("why", sluice.session, "1")
            #expect(page.contains("path: pattern /blocked* does not match /page"), "\(page)")
            #expect(page.contains("mark"), "\(page)")
            #expect(page.contains("added X-A: b"), "\(page)")
            let blocked = try await sluice.told("why", sluice.session, "2")
            #expect(blocked.contains("the block list has"), "\(blocked)")
            let unknown = try await sluice.command(["why", sluice.session, "99"])
            #expect(unknown.status == 1)
            let other = try sluice.scratch.write("other.yaml", "version: 1\nblock: { name: all, at: \"*/page\" }\n")
            let replayed = try await sluice.told("why", sluice.session, "1", "--profile", other)
            #expect(replayed.contains("403"), "\(replayed)")

            let checked = try await sluice.told(
                "profile",
                "check",
                sluice.scratch.path("profile.yaml"),
                "--against",
                sluice.session
            )
            #expect(checked.contains("2 requests"), "\(checked)")
            #expect(checked.contains("/blocked/now"), "\(checked)")
            let never = checked.split(separator: "\n").first { $0.contains("nothing  (") } ?? ""
            #expect(never.hasSuffix(": none"), "\(checked)")
        }
    }

    @Suite("Charles' settings")
    struct CharlesStories {
        @Test("Settings are imported, and act on traffic")
        func imported() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            try FileManager.default.createDirectory(atPath: scratch.path("mocks"), withIntermediateDirectories: true)
            try scratch.write("mocks/user.json", "{\"user\":1}\n")
            try scratch.write("settings.xml", settings(nginx))
            let profile = scratch.path("imported.yaml")
            let imported = try await SluiceProcess.run(
                ["import", "charles", scratch.path("settings.xml"), "--remap-path", "/old/place=mocks", "-o", profile],
                scratch: scratch
            )
            #expect(imported.status == 0)
            #expect(imported.errors.contains("4 imported, 0 approximated, 0 skipped"), "\(imported.errors)")
            #expect(!latin1(scratch.bytes("imported.yaml")).contains("SECRET-LICENCE"))

            let sluice = try await SluiceProcess([
                "--upstream-ca", try await TestAuthority.shared.root, "--profile", profile,
            ])
            let base = "https://localhost:\(nginx.secure)"
            let report = try await sluice.report("-H", "If-None-Match: x", base + "/v1/rest")
            #expect(report["note"] == "charles")
            #expect(report["match"] == "")
            let far = try await sluice.report(base + "/far/away?q=1")
            #expect(far["url"] == "http://localhost:\(nginx.plain)/v2/away?q=1")
            let local = try await sluice.answer(base + "/v1/user")
            #expect(local.text == "{\"user\":1}\n")
            #expect(local.values("Cache-Control") == ["no-cache"])
        }

        @Test("Entities and settings of a form that is unknown are refused")
        func refused() async throws {
            let scratch = try Scratch()
            try scratch.write("secret", "a secret")
            let entity = """
                <?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM "file://\(scratch.path("secret"))">]>
                <charles-export><toolConfiguration>&e;</toolConfiguration></charles-export>
                """
            for (name, text) in [("entity.xml", entity), ("html.xml", "<html></html>"), ("empty.xml", "")] {
                let file = try scratch.write(name, text)
                let outcome = try await SluiceProcess.run(["import", "charles", file], scratch: scratch)
                #expect(outcome.status == 1, "\(name)")
                #expect(!outcome.text.contains("a secret"))
                #expect(!outcome.errors.isEmpty)
            }
        }

        private func settings(_ nginx: ReportingNginx) -> String {
            """
            <?xml version='1.0' encoding='UTF-8' ?>
            <?charles serialisation-version='2.0' ?>
            <charles-export><registrationConfiguration><key>SECRET-LICENCE</key></registrationConfiguration>
            <toolConfiguration><configs>
              <entry><string>Rewrite</string><rewrite><toolEnabled>true</toolEnabled><debugging>false</debugging><sets>
                <rewriteSet><active>true</active><name>demo</name><hosts><locationPatterns><locationMatch>
                  <location><protocol>https</protocol><host>localhost</host><port>\(nginx.secure)</port>
                  <path>/v1/*</path></location><enabled>true</enabled></locationMatch></locationPatterns></hosts>
                <rules><rewriteRule><active>true</active><ruleType>1</ruleType><matchValue/><matchHeader/>
                  <matchRequest>true</matchRequest><matchResponse>false</matchResponse><newValue>charles</newValue>
                  <newHeader>X-Note</newHeader><caseSensitive>false</caseSensitive>
                  <matchWholeValue>false</matchWholeValue><replaceType>2</replaceType></rewriteRule></rules>
                </rewriteSet></sets></rewrite></entry>
              <entry><string>Map Local</string><mapLocal><toolEnabled>true</toolEnabled><mappings><mapLocalMapping>
                <sourceLocation><host>localhost</host><path>/v1/user</path></sourceLocation>
                <dest>/old/place/user.json</dest><enabled>true</enabled><caseSensitive>true</caseSensitive>
                </mapLocalMapping></mappings></mapLocal></entry>
              <entry><string>Map Remote</string><map><toolEnabled>true</toolEnabled><mappings><mapMapping>
                <sourceLocation><protocol>https</protocol><host>localhost</host><path>/far/*</path></sourceLocation>
                <destLocation><protocol>http</protocol><host>localhost</host><port>\(nginx.plain)</port>
                <path>/v2/</path></destLocation>
                <preserveHostHeader>false</preserveHostHeader><enabled>true</enabled></mapMapping></mappings></map>
              </entry>
              <entry><string>No Caching</string><selectedHostsTool><locations><locationPatterns/></locations>
                <toolEnabled>true</toolEnabled><useSelectedLocations>false</useSelectedLocations></selectedHostsTool>
              </entry>
            </configs></toolConfiguration></charles-export>

            """
        }
    }
}
