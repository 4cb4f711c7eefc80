import CharlesFiles
import HTTPModel
import Rules
import Testing
import Tools

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// A profile in Charles' terms, and the report; the profile itself must load.
private func exported(_ text: String) throws -> (settings: CharlesSettings, report: [String]) {
    let profile = try RuleProfile("version: 1\n" + text, file: "/profiles/p.yaml")
    let export = try CharlesExport(profile)
    #expect(try CharlesSettings.read(Array(export.xml.utf8)).unread.lines == [])
    return (export.settings, export.report.lines.map(\.description))
}

@Suite("A profile becomes Charles' settings")
struct CharlesExportTests {
    @Test("Settings that were imported are exported as they were")
    func roundTrip() throws {
        var settings = try CharlesSettings.read(Array(CharlesSamples.all.utf8)).settings
        let profile = try CharlesImport(settings, source: "x").text
        let export = try CharlesExport(try RuleProfile(profile, file: "/profiles/p.yaml"))
        // What a profile says otherwise: both lists always use their locations, and each breakpoint holds something.
        settings.blockList?.usesLocations = true
        settings.allowList?.usesLocations = true
        settings.breakpoints?.entries[1] = CharlesBreakpoint(
            location: CharlesLocation(host: "*.example.com"),
            onRequest: true,
            onResponse: true,
            isEnabled: false
        )
        settings.mapRemote?.entries[1].from = CharlesLocation(host: "old.example")
        settings.rewrite?.entries[0].rules[0].newName = ""
        #expect(export.settings == settings)
        #expect(try CharlesSettings.read(Array(export.xml.utf8)).settings == settings)
    }

    @Test("Locations, exceptions, methods and actions of the lists")
    func lists() throws {
        let (settings, report) = try exported(
            """
            block:
              - { at: ["a.example", "https://b.example/x?y=1"], action: drop, except: c.example, method: POST }
              - { name: half, at: d.example, action: 503, enabled: false }
            allow: { at: "*.example", action: 451 }
            off: [block]
            """
        )
        #expect(
            settings.blockList
                == CharlesLocationTool(
                    isEnabled: false,
                    usesLocations: true,
                    locations: [
                        CharlesPlace(CharlesLocation(host: "a.example")),
                        CharlesPlace(CharlesLocation(protocol: "https", host: "b.example", path: "/x", query: "y=1")),
                        CharlesPlace(CharlesLocation(host: "d.example"), isEnabled: false),
                    ],
                    action: 0
                )
        )
        #expect(
            report == [
                "approximated  allow 1: *.example (Charles answers 403, not 451)",
                "approximated  block 1: a.example, https://b.example/x?y=1 (Charles has no exceptions: it is for c.example too; "
                    + "Charles does not ask for the method: it is for others than POST too)",
                "approximated  block half: d.example (Charles has one action for the whole list: here drop)",
            ]
        )
    }

    @Test("A share of requests cannot be blocked in Charles")
    func share() throws {
        let (settings, report) = try exported("block: { at: a.example, share: 20 }")
        #expect(settings.blockList?.locations == [])
        #expect(report == ["skipped       block 1: a.example (Charles blocks all requests or none, not a share)"])
    }

    @Test("Tools for everything, and for selected locations")
    func everywhere() throws {
        let (settings, _) = try exported(
            """
            no-caching: true
            block-cookies: [ { only: a.example }, { only: [b.example, c.example], enabled: false } ]
            """
        )
        #expect(settings.noCaching == CharlesLocationTool(usesLocations: false, locations: []))
        #expect(settings.blockCookies?.usesLocations == true)
        #expect(settings.blockCookies?.locations.map(\.isEnabled) == [true, false, false])
        let off = try exported("no-caching: { enabled: false }").settings
        #expect(off.noCaching == CharlesLocationTool(isEnabled: false, usesLocations: false, locations: []))
    }

    @Test("Map remote: texts and mappings, and what Charles cannot do")
    func mapRemote() throws {
        let (settings, report) = try exported(
            """
            map-remote:
              - { from: "https://qiita.com/*", to: "http://localhost/api/?x=1", preserve-host: true }
              - { from: a.example, to: { port: 3000, path: "/$$1" }, keep-prefix: true }
              - { from: '/^https:(.*)/', to: "http:$1" }
              - { from: "https://*.a.example/*", to: "http://$1.localhost/" }
            """
        )
        #expect(
            settings.mapRemote?.entries == [
                CharlesRemoteMapping(
                    from: CharlesLocation(protocol: "https", host: "qiita.com", path: "/*"),
                    to: CharlesLocation(protocol: "http", host: "localhost", port: "80", path: "/api/", query: "x=1"),
                    preservesHost: true
                ),
                CharlesRemoteMapping(
                    from: CharlesLocation(host: "a.example"),
                    to: CharlesLocation(port: "3000", path: "/$1")
                ),
            ]
        )
        #expect(
            report == [
                "exported      map-remote 1: https://qiita.com/*",
                "approximated  map-remote 2: a.example "
                    + "(tick 'Preserve base path' in Charles 5: what that is called in its files is not known)",
                "skipped       map-remote 3: /^https:(.*)/ (Charles maps locations, not regular expressions)",
                "skipped       map-remote 4: https://*.a.example/* "
                    + "(the destination has parts of the source in it, which Charles cannot do)",
            ]
        )
    }

    @Test("Map local: absolute paths beside the profile, and what Charles has nothing like")
    func mapLocal() throws {
        let (settings, report) = try exported(
            """
            map-local:
              - { from: ["a.example/x/*", "b.example"], to: fixtures/, case-sensitive: false }
              - { from: c.example, to: /srv/c.json, on-miss: 404, status: 503, enabled: false }
            """
        )
        #expect(
            settings.mapLocal?.entries.map(\.to) == ["/profiles/fixtures/", "/profiles/fixtures/", "/srv/c.json"]
        )
        #expect(settings.mapLocal?.entries.map(\.isCaseSensitive) == [false, false, true])
        #expect(settings.mapLocal?.entries.map(\.isEnabled) == [true, true, false])
        #expect(
            report == [
                "exported      map-local 1: a.example/x/*, b.example",
                "approximated  map-local 2: c.example "
                    + "(where there is no such file, Charles asks the server; Charles has nothing like 'status')",
            ]
        )
    }

    @Test("Rewrite rules of every kind")
    func rewrite() throws {
        let (settings, report) = try exported(
            """
            rewrite:
              - name: demo
                at: ["https://a.example/*"]
                rules:
                  - { add: header, on: response, name: X, to: "1" }
                  - { remove: header, on: [request, response], name: Cookie, match: "_ga=" }
                  - { modify: header, on: request, name: User-Agent, match: '/^([[:alpha:]]+).*$/', to: "$1 $$5" }
                  - { modify: query, name: per_page, to: "10" }
                  - { modify: body, on: response, match: '\\/a/', to: "", case: true, replace: first, enabled: false }
                  - { modify: status, match: "200", to: "404 Not Found" }
                  - { add: query, name: b, to: "$1", if: { name: "^a", name-regex: true, match: /(x)/, case: true } }
            """
        )
        let rules = try #require(settings.rewrite?.entries.first?.rules)
        #expect(settings.rewrite?.entries.first?.name == "demo")
        #expect(
            rules.map(\.kind) == [.addHeader, .removeHeader, .modifyHeader, .modifyQuery, .body, .status, .addQuery]
        )
        #expect(rules[0].newName == "X" && rules[0].matchName == "" && rules[0].onResponse && !rules[0].onRequest)
        #expect(rules[1].matchName == "Cookie" && rules[1].matchValue == "_ga=" && rules[1].onRequest)
        #expect(rules[2].matchValue == "^([\\p{Alpha}]+).*$" && rules[2].isValueExpression)
        #expect(rules[2].newValue == "$1 \\$5")
        #expect(!rules[3].onRequest && !rules[3].onResponse && rules[3].newValue == "10")
        #expect(rules[4].matchValue == "/a/" && !rules[4].isValueExpression && rules[4].isCaseSensitive)
        #expect(rules[4].replacesFirst && !rules[4].isActive && rules[4].newValue == "")
        #expect(rules[5].newValue == "404 Not Found")
        #expect(rules[6].newName == "b" && rules[6].newValue == "$1" && rules[6].isCaseSensitive)
        #expect(rules[6].matchName == "^a" && rules[6].isNameExpression && rules[6].matchValue == "(x)")
        #expect(report.count == 7 && report.allSatisfy { $0.hasPrefix("exported") })
    }

    @Test("Breakpoints: a method each, and no policy")
    func breakpoints() throws {
        let (settings, report) = try exported(
            """
            breakpoints:
              - { at: a.example/login, method: [POST, PUT], on: request, after: 30s, then: cancel }
            """
        )
        #expect(settings.breakpoints?.entries.map(\.method) == ["POST", "PUT"])
        #expect(settings.breakpoints?.entries.allSatisfy { $0.onRequest && !$0.onResponse } == true)
        #expect(
            report == ["approximated  breakpoints 1: a.example/login (Charles waits for a decision without end)"]
        )
    }

    @Test("Throttle: one, with the numbers of its preset")
    func throttle() throws {
        let (settings, report) = try exported(
            """
            presets: { office: { down: 2000, latency: 80 } }
            throttle:
              - { preset: 3g, enabled: false }
              - { preset: office, up: 500, utilisation: { down: 70, up: 90 }, stability: 90, quality: [20, 60], seed: 3, only: a.example }
            """
        )
        var values = CharlesThrottleValues()
        (values.down, values.up, values.latency) = (2_000, 500, 80)
        (values.downUtilisation, values.upUtilisation) = (70, 90)
        (values.stability, values.lowQuality, values.highQuality) = (90, 20, 60)
        #expect(settings.throttle?.values == values)
        #expect(settings.throttle?.usesHosts == true)
        #expect(
            report == [
                "skipped       throttle 1 (Charles has one throttle)",
                "approximated  throttle 2: a.example (enter the hosts in Charles: a.example; what they look like in its files is "
                    + "not known; Charles has nothing like 'seed')",
            ]
        )
        let offline = try exported("throttle: { preset: offline }")
        #expect(offline.settings.throttle?.values.reliability == 0)
        let modem = try exported("throttle: { preset: \"56 kbps Modem\" }").settings.throttle?.values
        #expect(modem == (try CharlesSettings.read(Array(CharlesSamples.all.utf8)).settings.throttle?.values))
    }

    @Test("What Charles has elsewhere, or has not, is reported")
    func others() throws {
        let (settings, report) = try exported(
            """
            intercept: { except: ["*.bank.example"] }
            access: ["10.0.0.0/8", "192.168.0.0/16"]
            dns-spoofing: { host: "*.a.example:8443", address: "127.0.0.1" }
            """
        )
        #expect(settings.dnsSpoofing?.entries == [CharlesSpoof(host: "*.a.example", address: "127.0.0.1")])
        #expect(
            report == [
                "approximated  dns-spoofing 1: *.a.example:8443 "
                    + "(Charles does not ask for the port: it is for others than 8443 too)",
                "skipped       intercept "
                    + "(Charles has it under Proxy, SSL Proxying Settings, which an export of tools leaves alone)",
                "skipped       access (2) "
                    + "(Charles has it under Proxy, Access Control Settings, which an export of tools leaves alone)",
            ]
        )
    }

    @Test("Rules of several files stand one after the other")
    func files() throws {
        let sources = [
            ProfileSource(file: "/a/one.yaml", text: "version: 1\nmap-local: { from: a, to: x }\n"),
            ProfileSource(file: "/b/two.yaml", text: "version: 1\nmap-local: { from: b, to: y }\n"),
        ]
        let export = try CharlesExport(sources)
        #expect(export.settings.mapLocal?.entries.map(\.to) == ["/a/x", "/b/y"])
        #expect(export.report.lines.map(\.rule) == ["map-local 1: a", "map-local 2: b"])
    }
}
