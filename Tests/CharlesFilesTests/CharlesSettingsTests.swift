import CharlesFiles
import Rules
import Testing
import Tools

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// Reads settings, or the error that they are refused with.
private func read(_ text: String, as tool: CharlesSettings.LoneTool? = nil) -> Result<CharlesSettings, CharlesError> {
    Result { () throws(CharlesError) in try CharlesSettings.read(Array(text.utf8), as: tool).settings }
}

private func unread(_ text: String) throws -> [String] {
    try CharlesSettings.read(Array(text.utf8)).unread.lines.map(\.description)
}

@Suite("Charles' settings are read into a model")
struct CharlesSettingsTests {
    @Test("An export of all tools")
    func all() throws {
        let (settings, unread) = try CharlesSettings.read(Array(CharlesSamples.all.utf8))
        #expect(unread.lines == [])
        #expect(settings.breakpoints?.entries.map(\.method) == ["POST", ""])
        #expect(settings.noCaching?.locations.map(\.isEnabled) == [true, false])
        #expect(settings.noCaching?.usesLocations == true)
        #expect(settings.blockCookies == CharlesLocationTool(usesLocations: false, locations: []))
        #expect(
            settings.mapRemote?.entries.first
                == CharlesRemoteMapping(
                    from: CharlesLocation(protocol: "https", host: "api.example.com", path: "/v1/*"),
                    to: CharlesLocation(protocol: "http", host: "localhost", port: "3000", path: "/v2/"),
                    preservesHost: true
                )
        )
        #expect(settings.mapRemote?.entries.last?.preservesHost == false)
        #expect(settings.mapLocal?.entries.first?.isCaseSensitive == false)
        #expect(settings.rewrite?.entries.first?.rules.first?.kind == .modifyHeader)
        #expect(settings.blockList?.action == 1)
        #expect(settings.blockList?.locations.first?.isEnabled == true)
        #expect(settings.allowList?.isEnabled == false)
        #expect(settings.dnsSpoofing?.entries.map(\.address) == ["127.0.0.1", "edge.example"])
        #expect(settings.mirror?.isEnabled == true)
        #expect(settings.throttle?.values.down == 57.6)
        #expect(settings.throttle?.isEnabled == nil)
    }

    @Test("Each tool's own export is taken, and a tool without a name only when it is told")
    func lone() throws {
        let map = "<map><toolEnabled>true</toolEnabled><mappings/></map>"
        #expect(try read(map).get().mapRemote == CharlesTool([]))
        #expect(try read(CharlesSamples.sets()).get().rewrite?.entries.map(\.name) == ["s"])
        let list = "<whitelist><toolEnabled>true</toolEnabled><action>1</action></whitelist>"
        #expect(try read(list).get().allowList?.action == 1)
        for empty in ["<rewrite />", "<mapLocal />", "<breakpoints/>", "<dnsSpoofing/>", "<mirror/>", "<blacklist/>"] {
            #expect(throws: Never.self) { try read(empty).get() }
        }
        let lone = "<selectedHostsTool><toolEnabled>true</toolEnabled></selectedHostsTool>"
        #expect(try read(lone, as: .noCaching).get().noCaching?.isEnabled == true)
        #expect(try read(lone, as: .blockCookies).get().blockCookies?.isEnabled == true)
        let message =
            "1:1: this is No Caching, Block Cookies or Client Process; the file does not tell which; say it with "
            + "--as no-caching or --as block-cookies"
        #expect(throws: CharlesError.self) { try read(lone).get() }
        if case .failure(let error) = read(lone) { #expect(error.description == message) }
    }

    @Test(
        "What is no settings file is refused",
        arguments: [
            (
                "<java version='1.6'><object class='com.xk72.charles.config.CharlesConfiguration'/></java>",
                "1:1: this was written by Charles 3.2 or older; open it in a newer Charles and export the settings again"
            ),
            ("<charles-session/>", "1:1: this is a recorded session, not settings"),
            ("<html/>", "1:1: <html> is not an element of Charles' settings"),
        ]
    )
    func refused(text: String, message: String) {
        guard case .failure(let error) = read(text) else {
            Issue.record("taken: \(text)")
            return
        }
        #expect(error.description == message)
    }

    @Test("Licence keys, passwords, certificates and tokens are never read into the model")
    func secrets() throws {
        let text = """
            <configuration>
              <registrationConfiguration><name>SECRET</name><key>SECRET</key></registrationConfiguration>
              <clientSSLCertificatesConfiguration><certificates><c>SECRET</c></certificates></clientSSLCertificatesConfiguration>
              <remoteControlConfiguration><users><user><name>SECRET</name><password>SECRET</password></user></users></remoteControlConfiguration>
              <gistConfiguration><token>SECRET</token></gistConfiguration>
              <externalProxyConfiguration><configurations><entry><password>SECRET</password></entry></configurations></externalProxyConfiguration>
              <proxyConfiguration>
                <decryptSSL>true</decryptSSL><rootCertificate>SECRET</rootCertificate>
                <sslLocations><locationPatterns>
                  <locationMatch><location><host>*.example.com</host><port>443</port></location><enabled>true</enabled></locationMatch>
                </locationPatterns></sslLocations>
              </proxyConfiguration>
              <startupConfiguration><throttling>true</throttling><currentDirectory>SECRET</currentDirectory></startupConfiguration>
              <accessControlConfiguration><ipRanges><ipRange>
                <ip><int>10</int><int>1</int><int>0</int><int>0</int></ip>
                <mask><int>255</int><int>255</int><int>0</int><int>0</int></mask>
              </ipRange></ipRanges></accessControlConfiguration>
              <throttlingConfiguration><bandwidthDown>8192.0</bandwidthDown><bandwidthUp>1024.0</bandwidthUp></throttlingConfiguration>
            </configuration>
            """
        let (settings, unread) = try CharlesSettings.read(Array(text.utf8))
        #expect(!"\(settings)\(unread)".contains("SECRET"))
        #expect(settings.access == ["10.1.0.0/16"])
        #expect(settings.sslProxying?.included.map(\.location.host) == ["*.example.com"])
        #expect(settings.throttle?.isEnabled == true)
        let imported = try CharlesImport(settings, source: "x.config")
        #expect(!imported.text.contains("SECRET"))
    }

    @Test(
        "A range of addresses has a mask that is a prefix",
        arguments: [
            ([255, 255, 255, 255], "10.1.0.0/32"), ([255, 128, 0, 0], "10.1.0.0/9"), ([0, 0, 0, 0], "10.1.0.0/0"),
            ([255, 0, 255, 0], nil), ([0, 0, 0, 1], nil), ([255, 255], nil),
        ] as [([Int], String?)]
    )
    func masks(mask: [Int], range: String?) throws {
        let text = """
            <configuration><accessControlConfiguration><ipRanges><ipRange>
            <ip><int>10</int><int>1</int><int>0</int><int>0</int></ip>
            <mask>\(mask.map { "<int>\($0)</int>" }.joined())</mask>
            </ipRange></ipRanges></accessControlConfiguration></configuration>
            """
        #expect(try CharlesSettings.read(Array(text.utf8)).settings.access == [range].compactMap { $0 })
    }

    @Test("What is not known is reported with its line, and is never fatal")
    func unknown() throws {
        let text = """
            <map><toolEnabled>maybe</toolEnabled>
            <mappings><mapMapping><sourceLocation><host>a</host><fragment>x</fragment></sourceLocation>
            <colour>red</colour></mapMapping><other/></mappings></map>
            """
        #expect(
            try unread(text) == [
                "skipped       map, line 1: <toolEnabled> (it is neither true nor false; read as true)",
                "skipped       map, line 3: <colour> (this element is unknown)",
                "skipped       map, line 2: <fragment> (this element is unknown)",
                "skipped       map, line 3: <other> (this element is unknown)",
            ]
        )
        let many = try unread("<map><mappings>" + String(repeating: "<x/>", count: 2_000) + "</mappings></map>")
        #expect(many.count == 1_000)
        #expect(many.last == "skipped       map, line 1 and after (there are too many unknown elements here)")
        let rule = try unread(CharlesSamples.sets(CharlesSamples.rule(12)))
        #expect(
            rule == ["skipped       Rewrite, line 5: <rewriteRule> (the rule's type '12' is none of the eleven known)"]
        )
    }

    @Test("Shapes that other programs and hands have written")
    func shapes() throws {
        let text =
            CharlesSamples.prolog + """
                <rewriteSet-array>
                  <rewriteSet><active>true</active><name/><hosts><locationPatterns/></hosts><rules/></rewriteSet>
                  <rewriteSet>
                    <active>true</active><name>&lt;M&gt; it's &apos;on&apos;</name>
                    <hosts><locationPatterns>
                      <locationMatch><location><protocol>https</protocol></location></locationMatch>
                      <locationMatch><location><query>a=1&amp;b=2</query></location><enabled>true</enabled></locationMatch>
                      <locationMatch><location/><enabled>false</enabled></locationMatch>
                    </locationPatterns></hosts>
                    <rules>\(CharlesSamples.rule(7, ["matchValue": "(?x) a' &lt;", "newValue": "", "matchValueRegex": "true"]))</rules>
                  </rewriteSet>
                </rewriteSet-array>
                """
        let (settings, unread) = try CharlesSettings.read(Array(text.utf8))
        #expect(unread.lines == [])
        let sets = try #require(settings.rewrite?.entries)
        #expect(sets.map(\.name) == ["", "<M> it's 'on'"])
        #expect(sets[0] == CharlesRewriteSet(name: "", locations: [], rules: []))
        #expect(
            sets[1].locations == [
                CharlesPlace(CharlesLocation(protocol: "https")), CharlesPlace(CharlesLocation(query: "a=1&b=2")),
                CharlesPlace(CharlesLocation(), isEnabled: false),
            ]
        )
        #expect(sets[1].rules[0].matchValue == "(?x) a' <")
        let twice = """
            <charles-export><toolConfiguration><configs>
            <entry><string>Black List</string><blacklist><action>1</action></blacklist></entry>
            <entry><string>Block List</string><blacklist><action>0</action></blacklist></entry>
            </configs></toolConfiguration></charles-export>
            """
        let (first, second) = try CharlesSettings.read(Array(twice.utf8))
        #expect(first.blockList?.action == 1)
        #expect(
            second.lines.map(\.description) == [
                "skipped       Block List, line 3: <blacklist> (the tool is there a second time)"
            ]
        )
    }

    @Test("Tools that Sluice does not have are reported when there is something in them")
    func otherTools() throws {
        let text = """
            <charles-export><toolConfiguration><configs>
            <entry><string>Reverse Proxies</string><reverseProxies><active>true</active><reverseProxies><reverseProxy/></reverseProxies></reverseProxies></entry>
            <entry><string>Port Forwarding</string><portForwarding><portForwardings/></portForwarding></entry>
            <entry><string>Auto Save</string><autoSave><toolEnabled>true</toolEnabled></autoSave></entry>
            <entry><string>Client Process</string><selectedHostsTool><toolEnabled>true</toolEnabled></selectedHostsTool></entry>
            <entry><string>New Tool</string><newTool/></entry>
            </configs></toolConfiguration></charles-export>
            """
        #expect(
            try unread(text) == [
                "skipped       Reverse Proxies: 1 mappings (Sluice has no such tool)",
                "skipped       Auto Save (Sluice writes the session to its file all the time)",
                "skipped       Client Process (Sluice has no such tool)",
                "skipped       New Tool, line 6: <newTool> (this element is unknown)",
            ]
        )
    }

    @Test("Hosts and presets of a throttle are found in whatever shape they have")
    func throttle() throws {
        let text = """
            <configuration><throttlingConfiguration>
            <bandwidthDown>100</bandwidthDown><selectedHosts>true</selectedHosts>
            <hosts class="listAdapter"><list><host><host>a.example</host><port>443</port></host>
              <locationMatch><location><host>b.example</host></location><enabled>false</enabled></locationMatch></list></hosts>
            <customPresets><entry><string>office</string><preset><bandwidthDown>2000.0</bandwidthDown></preset></entry>
              <preset><name>home</name><bandwidthDown>3000</bandwidthDown></preset><odd/></customPresets>
            </throttlingConfiguration></configuration>
            """
        let (settings, unread) = try CharlesSettings.read(Array(text.utf8))
        #expect(settings.throttle?.hosts.map(\.location.host) == ["a.example", "b.example"])
        #expect(settings.throttle?.hosts.map(\.isEnabled) == [true, false])
        #expect(settings.throttle?.presets.map(\.name) == ["office", "home"])
        #expect(settings.throttle?.presets.map(\.values.down) == [2_000, 3_000])
        #expect(
            unread.lines.map(\.description) == [
                "skipped       Throttle, line 6: <odd> (no name and bandwidth can be found in it)"
            ]
        )
    }
}
