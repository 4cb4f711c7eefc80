import CharlesFiles
import HTTPModel
import Rules
import Testing
import Text
import Tools

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// What comes out of settings: the lines of the profile behind its head, and those of the report.
private func imported(
    _ xml: String,
    paths: [CharlesImport.PathChange] = []
) throws -> (profile: [String], report: [String]) {
    let result = try CharlesImport(Array(xml.utf8), source: "x.xml", file: "/profiles/p.yaml", paths: paths)
    #expect(throws: Never.self) { try RuleProfile(result.text, file: "/profiles/p.yaml") }
    let lines = result.text.split(separator: "\n").map(String.init)
    return (Array(lines.drop { $0 != "name: \"from Charles\"" }.dropFirst()), result.report.lines.map(\.description))
}

private func imported(_ change: (inout CharlesSettings) -> Void) throws -> (profile: [String], report: [String]) {
    var settings = CharlesSettings()
    change(&settings)
    return try imported(settings.xml)
}

private let anywhere = CharlesLocation(host: "a.example")

@Suite("Charles' settings become a profile")
struct CharlesImportTests {
    @Test("An export of all tools, whole")
    func all() throws {
        let result = try imported(CharlesSamples.all)
        #expect(
            result.profile.joined(separator: "\n") == """
                off: [throttle, allow]
                throttle:
                  # approximated: the settings do not say whether throttling was on, so it is off here
                  - { name: "56 kbps Modem", down: 57.6, up: 33.6, utilisation: 70, latency: 250, mtu: 576 }
                no-caching:
                  - { only: a.example }
                  - { only: b.example, enabled: false }
                block-cookies:
                  - { enabled: true }
                allow:
                  - { at: "*.example.com", action: drop }
                block:
                  - { at: "*.tracker.example", action: 403 }
                rewrite:
                  - name: demo
                    at: { host: api.example.com, query: "*page=1*" }
                    rules:
                      - { modify: header, on: response, name: Server, match: nginx, to: google }
                map-remote:
                  - from: "https://api.example.com/v1/*"
                    to: { protocol: http, host: localhost, port: 3000, path: /v2/ }
                    preserve-host: true
                  - { from: old.example, to: { host: new.example }, enabled: false }
                map-local:
                  - { from: api.example.com/v1/user, to: /srv/mocks/user.json, on-miss: pass, case-sensitive: false }
                mirror:
                  # approximated: Charles' directory is not imported; files are saved in 'mirrored' beside this file
                  - { to: mirrored/ }
                breakpoints:
                  - { at: "https://api.example.com:443/login", method: POST, on: request }
                  # approximated: it held neither requests nor responses, so it is not enabled
                  - { at: "*.example.com", on: [request, response], enabled: false }
                dns-spoofing:
                  - { host: api.example.com, address: "127.0.0.1" }
                  - { host: "*.cdn.example", address: edge.example, enabled: false }
                """
        )
        #expect(
            result.report.joined(separator: "\n") == """
                approximated  Throttle 57.6/33.6 kbit/s (the settings do not say whether throttling was on, so it is off here)
                imported      No Caching 1: a.example
                imported      No Caching 2: b.example
                imported      Block Cookies
                imported      Allow List 1: *.example.com
                imported      Block List 1: *.tracker.example
                imported      Rewrite 'demo' 1: modify header Server
                imported      Map Remote 1: https://api.example.com/v1/*
                imported      Map Remote 2: old.example
                imported      Map Local 1: api.example.com/v1/user
                approximated  Mirror (Charles' directory is not imported; files are saved in 'mirrored' beside this file)
                imported      Breakpoints 1: https://api.example.com:443/login
                approximated  Breakpoints 2: *.example.com (it held neither requests nor responses, so it is not enabled)
                imported      DNS Spoofing 1: api.example.com
                imported      DNS Spoofing 2: *.cdn.example
                """
        )
    }

    @Test("Tools with nothing in them leave nothing behind")
    func empty() throws {
        let result = try imported { settings in
            settings.noCaching = CharlesLocationTool(isEnabled: false, usesLocations: false, locations: [])
            settings.blockList = CharlesLocationTool(isEnabled: true, usesLocations: false, locations: [], action: 0)
            settings.allowList = CharlesLocationTool(isEnabled: false, usesLocations: false, locations: [], action: 0)
            settings.mirror = CharlesLocationTool(isEnabled: false, usesLocations: false, locations: [])
            settings.mapRemote = CharlesTool([])
            settings.rewrite = CharlesTool([])
        }
        #expect(result.profile == [])
        #expect(result.report == [])
    }

    @Test("Both lists know their actions, use their locations always, and keep what is off")
    func lists() throws {
        let places = [
            CharlesPlace(CharlesLocation(host: "a.example")),
            CharlesPlace(CharlesLocation(host: "b.example"), isEnabled: false),
            CharlesPlace(CharlesLocation(host: "c.example", path: "/x")),
        ]
        let result = try imported { settings in
            settings.blockList = CharlesLocationTool(usesLocations: false, locations: places, action: 0)
            settings.allowList = CharlesLocationTool(
                isEnabled: false,
                usesLocations: false,
                locations: places,
                action: 1
            )
        }
        #expect(
            result.profile == [
                "off: [allow]",
                "allow:",
                "  - { at: a.example, action: 403 }",
                "  - { at: b.example, action: 403, enabled: false }",
                "  - { at: c.example/x, action: 403 }",
                "block:",
                "  - { at: a.example, action: drop }",
                "  - { at: b.example, action: drop, enabled: false }",
                "  - { at: c.example/x, action: drop }",
            ]
        )
        let odd = try imported { settings in
            settings.blockList = CharlesLocationTool(usesLocations: false, locations: [places[0]], action: 7)
            settings.allowList = CharlesLocationTool(usesLocations: false, locations: [], action: 0)
        }
        #expect(
            odd.report == [
                "skipped       Allow List (the list is on and empty: it would let nothing pass)",
                "approximated  Block List 1: a.example (the action 7 is not known; taken for an answer of 403)",
            ]
        )
    }

    @Test("A tool for selected locations of which none is selected does nothing; one for everything keeps its list")
    func selected() throws {
        let list = [CharlesPlace(CharlesLocation(host: "a.example")), CharlesPlace(CharlesLocation(host: "b.example"))]
        let result = try imported { settings in
            settings.noCaching = CharlesLocationTool(usesLocations: true, locations: [])
            settings.blockCookies = CharlesLocationTool(usesLocations: false, locations: list)
        }
        #expect(
            result.profile == [
                "no-caching:",
                "  # approximated: it was for selected locations only, and none was selected",
                "  - { enabled: false }",
                "block-cookies:",
                "  - { enabled: true }",
                "  - { only: [a.example, b.example], enabled: false }",
            ]
        )
    }

    @Test("Names follow DNS spoofing; a spoof without host or address is skipped")
    func spoofs() throws {
        let result = try imported { settings in
            settings.dnsSpoofing = CharlesTool([
                CharlesSpoof(host: "*.a.example ", address: " 2001:db8::1"),
                CharlesSpoof(host: "b.example", address: "c.example", isEnabled: false),
                CharlesSpoof(host: "", address: "127.0.0.1"), CharlesSpoof(host: "d.example", address: ""),
            ])
        }
        #expect(
            result.profile == [
                "dns-spoofing:",
                "  - { host: \"*.a.example\", address: \"2001:db8::1\" }",
                "  - { host: b.example, address: c.example, enabled: false }",
                "  # skipped: it has no host",
                "  # - { host: \"\", address: \"127.0.0.1\" }",
                "  # skipped: it has no address",
                "  # - { host: d.example, address: \"\" }",
            ]
        )
    }

    @Test("Blank parts of a remote destination are kept, pasted stars too")
    func mapRemote() throws {
        let result = try imported { settings in
            settings.mapRemote = CharlesTool([
                CharlesRemoteMapping(
                    from: CharlesLocation(protocol: "*", host: "a.example", port: "*", path: "*"),
                    to: CharlesLocation(protocol: "http", port: "0", path: "openweathermap/", query: "*")
                ),
                CharlesRemoteMapping(from: CharlesLocation(path: "/a/"), to: CharlesLocation(path: "/$1/")),
                CharlesRemoteMapping(from: anywhere, to: CharlesLocation()),
                CharlesRemoteMapping(from: anywhere, to: CharlesLocation(host: "b c")),
            ])
        }
        #expect(
            result.profile == [
                "map-remote:",
                "  # approximated: a slash is put before the path of the destination",
                "  - { from: \"*://a.example:*\", to: { protocol: http, path: /openweathermap/ } }",
                "  # approximated: what is left of the request's path is not added to one that has a $ in it",
                "  - { from: { path: /a/ }, to: { path: \"/$$1/\" } }",
                "  # skipped: it has no destination",
                "  # - { from: a.example, to: {} }",
                "  # skipped: 'b c' is no host",
                "  # - { from: a.example, to: { host: \"b c\" } }",
            ]
        )
    }

    @Test(
        "Paths of another machine are changed by whole names",
        arguments: [
            ("/Users/ada/mocks/a.json", "/Users/ada/mocks", "fixtures", "fixtures/a.json"),
            ("/Users/ada/mocks/a.json", "/Users/ada/mocks/", "fixtures/", "fixtures/a.json"),
            ("/Users/ada/mocks", "/Users/ada/mocks", "fixtures", "fixtures"),
            ("/Users/ada/mocks/", "/Users/ada/mocks", "fixtures", "fixtures/"),
            ("/Users/ada/mocks2/a.json", "/Users/ada/mocks", "fixtures", nil),
            ("C:\\Mocks\\v1\\a.json", "c:\\mocks", "fixtures", "fixtures/v1/a.json"),
            ("C:\\Mocks\\v1\\a.json", "C:/Mocks/v1/", "/srv", "/srv/a.json"),
            ("C:\\Mocks", "C:", "/srv", "/srv/Mocks"),
            ("\\\\server\\share\\a", "\\\\server\\share", "x", "x/a"),
            ("/a\\b/c", "/a", "x", nil),
            ("/a/b", "/", "/base", "/base/a/b"),
            ("/a/b", "/A", "x", nil),
        ]
    )
    func paths(path: String, old: String, new: String, expected: String?) throws {
        let change = CharlesImport.PathChange(old: old, new: new)
        #expect(CharlesDrafting.path(path, with: change) == expected)
    }

    @Test("Local mappings keep their files, with a word on those that cannot be meant")
    func mapLocal() throws {
        var settings = CharlesSettings()
        settings.mapLocal = CharlesTool([
            CharlesLocalMapping(from: CharlesLocation(host: "a", path: "/x/*"), to: "C:\\mocks\\x", isEnabled: false),
            CharlesLocalMapping(from: CharlesLocation(host: "a", path: "/y/"), to: "/srv/y"),
            CharlesLocalMapping(from: anywhere, to: " "),
        ])
        let result = try imported(settings.xml)
        #expect(
            result.profile == [
                "map-local:",
                "  # approximated: it is a Windows path; give --remap-path 'C:\\mocks=NEW'",
                "  - { from: \"a/x/*\", to: 'C:\\mocks\\x', on-miss: pass, enabled: false }",
                "  # approximated: the path matches just itself; older versions of Charles meant what is below it, /y/*, too",
                "  - { from: a/y/, to: /srv/y, on-miss: pass }",
                "  # skipped: it has no file or directory",
                "  # - { from: a.example, to: \"\", on-miss: pass }",
            ]
        )
        let changed = try imported(
            settings.xml,
            paths: [CharlesImport.PathChange("C:\\mocks=mocks")].compactMap(\.self)
        )
        #expect(changed.profile[1] == "  - { from: \"a/x/*\", to: mocks/x, on-miss: pass, enabled: false }")
        #expect(CharlesImport.PathChange("=x") == nil)
        #expect(CharlesImport.PathChange("x=") == nil)
        #expect(CharlesImport.PathChange("x") == nil)
    }

    @Test("Throttle values come over as numbers; what is perfect is left out")
    func throttle() throws {
        var values = CharlesThrottleValues()
        (values.down, values.up, values.latency) = (1_000.5, 0, 80)
        (values.downUtilisation, values.upUtilisation) = (70, 90)
        (values.reliability, values.stability, values.lowQuality, values.highQuality) = (98, 90, 20, 60)
        var throttle = CharlesThrottle(isEnabled: true, values)
        throttle.usesHosts = true
        throttle.hosts = [
            CharlesPlace(CharlesLocation(host: "a.example", port: "443")),
            CharlesPlace(CharlesLocation(host: "b.example"), isEnabled: false),
        ]
        throttle.presets = [("Büro", CharlesThrottleValues())]
        let result = try imported { $0.throttle = throttle }
        #expect(
            result.profile == [
                "presets:",
                "  \"Büro\": { latency: 0, mtu: 1500 }",
                "throttle:",
                "  # approximated: a bandwidth of 0 is taken for no limit",
                "  - down: 1000.5",
                "    utilisation: { down: 70, up: 90 }",
                "    latency: 80",
                "    mtu: 1500",
                "    reliability: 98",
                "    stability: 90",
                "    quality: [20, 60]",
                "    only: \"a.example:443\"",
            ]
        )
        throttle.hosts = []
        throttle.presets = []
        let none = try imported { $0.throttle = throttle }
        #expect(none.report[0].contains("it was for selected hosts only, and none was selected"))
    }

    @Test("SSL proxying becomes intercept, access control becomes access")
    func proxy() throws {
        func place(_ host: String, _ isEnabled: Bool = true) -> CharlesPlace {
            CharlesPlace(CharlesLocation(host: host, port: "443"), isEnabled: isEnabled)
        }
        let result = try imported { settings in
            settings.sslProxying = CharlesSSLProxying(
                included: [place("*.example.com"), place("b.example", false)],
                excluded: [place("c.example.com")]
            )
            settings.access = ["192.168.0.0/16", "10.1.2.3/32"]
        }
        #expect(
            result.profile == [
                "access:", "  - \"192.168.0.0/16\"", "  - \"10.1.2.3/32\"",
                "intercept:",
                "  # approximated: skipped, because they were not enabled: b.example:443",
                "  only: [\"*.example.com:443\"]",
                "  except: [\"c.example.com:443\"]",
            ]
        )
        let none = try imported { $0.sslProxying = CharlesSSLProxying(included: [place("a", false)], excluded: []) }
        #expect(none.profile.last == "  except: \"*\"")
        let every = CharlesPlace(CharlesLocation(host: "*", port: "*"))
        #expect(try imported { $0.sslProxying = CharlesSSLProxying(included: [every], excluded: []) }.profile == [])
    }

    @Test("A thousand block rules come over in one go")
    func thousand() throws {
        let places = (0..<1_000).map { CharlesPlace(CharlesLocation(host: "h\($0).example", query: "a=1&b=\($0)")) }
        let result = try imported {
            $0.blockList = CharlesLocationTool(usesLocations: true, locations: places, action: 0)
        }
        #expect(result.report.count == 1_000)
        #expect(result.report.allSatisfy { $0.hasPrefix("imported") })
        #expect(result.profile.count == 1_001)
    }

    @Test("What profiles do not take is left as a comment, and the rest still loads")
    func leftOut() throws {
        let result = try imported { settings in
            settings.blockList = CharlesLocationTool(
                usesLocations: true,
                locations: ["a example", "b.example", "c.example"].map { CharlesPlace(CharlesLocation(host: $0)) }
                    + [CharlesPlace(CharlesLocation(port: "80,443"))],
                action: 0
            )
        }
        #expect(result.profile[1] == "  # skipped: host: a host cannot have ' '")
        #expect(result.profile.count { $0.hasPrefix("  - ") } == 2)
        #expect(result.report.count { $0.hasPrefix("skipped") } == 2)
    }

    @Test("Hidden characters are escaped in the profile and named in the report")
    func hidden() throws {
        let text = "a\u{202E}\u{9B}\u{E0041}\u{FEFF}b"
        var settings = CharlesSettings()
        var rule = CharlesRewriteRule(.body)
        (rule.onResponse, rule.matchValue, rule.newValue) = (true, text, text)
        settings.rewrite = CharlesTool([
            CharlesRewriteSet(name: text, locations: [CharlesPlace(anywhere)], rules: [rule])
        ])
        let result = try CharlesImport(settings, source: text, file: "p.yaml")
        #expect(result.text.contains("a\\u202E\\x9B\\U000E0041\\uFEFFb"), "\(result.text)")
        for output in [result.text, "\(result.report)"] { #expect(VisibleText.lines(output) == output) }
        let profile = try RuleProfile(result.text, file: "p.yaml")
        #expect(profile.tools.first?.rules.first?.name == text)
    }

    @Test("A profile that would be too large is refused")
    func tooLarge() {
        var settings = CharlesSettings()
        var rule = CharlesRewriteRule(.body)
        (rule.onResponse, rule.newValue) = (true, String(repeating: "x", count: ProfileText.limit))
        settings.rewrite = CharlesTool([
            CharlesRewriteSet(name: "s", locations: [CharlesPlace(anywhere)], rules: [rule])
        ])
        do throws(CharlesError) {
            let length = try CharlesImport(settings, source: "x").text.utf8.count
            Issue.record("a profile of \(length) bytes was made")
        } catch {
            #expect(error.message.hasPrefix("the profile that came out cannot be used: is larger than "))
        }
    }
}
