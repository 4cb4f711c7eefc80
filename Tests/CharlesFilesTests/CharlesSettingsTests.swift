import CharlesFiles
import Rules
import Testing
import Tools

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// Reads settings, or the error that they are refused with.
private func read(_ text: String, as tool: CharlesImport.LoneTool? = nil) -> Result<CharlesImport, CharlesError> {
    Result { () throws(CharlesError) in try CharlesImport(Array(text.utf8), as: tool, source: "x.xml") }
}

/// The lines of the profile behind its head.
private func profile(_ text: String, as tool: CharlesImport.LoneTool? = nil) throws -> [String] {
    let lines = try read(text, as: tool).get().text.split(separator: "\n").map(String.init)
    return Array(lines.drop { $0 != "name: \"from Charles\"" }.dropFirst())
}

private func report(_ text: String) throws -> [String] { try read(text).get().report.lines.map(\.description) }

@Suite("Charles' settings are read")
struct CharlesSettingsTests {
    @Test("Each tool's own export is taken, and a tool without a name only when it is told")
    func lone() throws {
        #expect(try profile("<map><toolEnabled>true</toolEnabled><mappings/></map>") == [])
        #expect(try profile(CharlesSamples.sets())[1] == "  - name: s")
        let places = "<locationPatterns>\(CharlesSamples.location("<host>a.example</host>"))</locationPatterns>"
        let list = "<toolEnabled>true</toolEnabled><action>1</action><locations>\(places)</locations>"
        #expect(try profile("<whitelist>\(list)</whitelist>") == ["allow:", "  - { at: a.example, action: 403 }"])
        for empty in ["<rewrite />", "<mapLocal />", "<breakpoints/>", "<dnsSpoofing/>", "<mirror/>", "<blacklist/>"] {
            #expect(throws: Never.self) { try read(empty).get() }
        }
        let lone = "<selectedHostsTool><toolEnabled>true</toolEnabled></selectedHostsTool>"
        #expect(try profile(lone, as: .noCaching) == ["no-caching:", "  - { enabled: true }"])
        #expect(try profile(lone, as: .blockCookies) == ["block-cookies:", "  - { enabled: true }"])
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

    @Test("Licence keys, passwords, certificates and tokens are never read")
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
        let imported = try read(text).get()
        #expect(!"\(imported.text)\(imported.report)".contains("SECRET"))
        #expect(
            try profile(text) == [
                "access:", "  - \"10.1.0.0/16\"", "intercept:", "  only: [\"*.example.com:443\"]", "throttle:",
                "  - { down: 8192, up: 1024, latency: 0, mtu: 1500 }",
            ]
        )
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
        #expect(try profile(text) == (range.map { ["access:", "  - \"\($0)\""] } ?? []))
    }

    @Test("What is not known is reported with its line, and is never fatal")
    func unknown() throws {
        let text = """
            <map><toolEnabled>maybe</toolEnabled>
            <mappings><mapMapping><sourceLocation><host>a</host><fragment>x</fragment></sourceLocation>
            <colour>red</colour></mapMapping><other/></mappings></map>
            """
        #expect(
            try report(text) == [
                "skipped       Map Remote 1: a (it has no destination)",
                "skipped       map, line 1: <toolEnabled> (it is neither true nor false; read as true)",
                "skipped       map, line 3: <colour> (this element is unknown)",
                "skipped       map, line 2: <fragment> (this element is unknown)",
                "skipped       map, line 3: <other> (this element is unknown)",
            ]
        )
        let many = try report("<map><mappings>" + String(repeating: "<x/>", count: 2_000) + "</mappings></map>")
        #expect(many.count == 1_000)
        #expect(many.last == "skipped       map, line 1 and after (there are too many unknown elements here)")
        let rule = try report(CharlesSamples.sets(CharlesSamples.rule(12)))
        #expect(
            rule == [
                "imported      Rewrite 's'",
                "skipped       Rewrite, line 5: <rewriteRule> (the rule's type '12' is none of the eleven known)",
            ]
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
        let lines = try profile(text)
        #expect(lines.count { $0.contains("- name: ") } == 2)
        #expect(lines.contains { $0.contains("<M> it's 'on'") })
        #expect(lines.contains { $0.contains("https://*") && $0.contains("a=1") })
        #expect(lines.contains { $0.contains("skipped, because they were not enabled: ") })
        #expect(lines.last?.contains("x) a' <") == true)
        #expect(try !report(text).contains { $0.contains("unknown") })
        let twice = """
            <charles-export><toolConfiguration><configs>
            <entry><string>Black List</string><blacklist><action>1</action></blacklist></entry>
            <entry><string>Block List</string><blacklist><action>0</action></blacklist></entry>
            </configs></toolConfiguration></charles-export>
            """
        #expect(
            try report(twice) == [
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
            try report(text) == [
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
        #expect(
            try profile(text) == [
                "off: [throttle]",
                "presets:",
                "  office: { down: 2000, latency: 0, mtu: 1500 }",
                "  home: { down: 3000, latency: 0, mtu: 1500 }",
                "throttle:",
                "  # approximated: a bandwidth of 0 is taken for no limit",
                "  # approximated: the settings do not say whether throttling was on, so it is off here",
                "  - { down: 100, latency: 0, mtu: 1500, only: \"a.example:443\" }",
            ]
        )
        #expect(
            try report(text).last == "skipped       Throttle, line 6: <odd> (no name and bandwidth can be found in it)"
        )
    }
}
