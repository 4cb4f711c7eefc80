import CharlesFiles
import Rules
import Support
import Tools

/// Reads arbitrary bytes as Charles' settings, and makes a profile of them.
enum CharlesProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        guard input.number(below: 2) == 0 else {
            return try read(Array(HostileNumbers.filled(template) { _ in input.choose(HostileNumbers.texts) }.utf8))
        }
        try read(input.bytes)
    }

    /// Reads settings.
    static func read(_ xml: [UInt8]) throws {
        let made: CharlesImport
        do throws(CharlesError) {
            made = try CharlesImport(xml, source: "x.xml", file: "/profiles/p.yaml")
        } catch {
            return try demand(!"\(error)".isEmpty, "refused without a reason")
        }
        do throws(ProfileError) {
            _ = try RuleProfile(made.text, file: "/profiles/p.yaml")
        } catch {
            throw ProbeError(description: "what was made is refused: \(error)\n\(made.text)")
        }
    }

    /// Settings with each number that they can have.
    static let template = """
        <?xml version='1.0' encoding='UTF-8' ?>
        <?charles serialisation-version='2.0' ?>
        <charles-export><toolConfiguration><configs>
        <entry><string>Breakpoints</string><breakpoints><toolEnabled>true</toolEnabled><breakpoints><breakpoint>
        <location><protocol>https</protocol><host>a.example</host><port>#</port><path>/</path></location>
        <request>true</request><response>#</response><enabled>true</enabled></breakpoint></breakpoints></breakpoints></entry>
        <entry><string>Block List</string><blacklist><locations><locationPatterns><locationMatch>
        <location><host>a.example</host><port>#</port></location><enabled>true</enabled></locationMatch></locationPatterns>
        </locations><toolEnabled>true</toolEnabled><useSelectedLocations>true</useSelectedLocations><action>#</action>
        </blacklist></entry>
        <entry><string>Map Remote</string><map><toolEnabled>true</toolEnabled><mappings><mapMapping>
        <sourceLocation><host>a.example</host><port>#</port></sourceLocation>
        <destLocation><host>b.example</host><port>#</port></destLocation>
        <enabled>true</enabled></mapMapping></mappings></map></entry>
        <entry><string>Rewrite</string><rewrite><toolEnabled>true</toolEnabled><sets><rewriteSet><active>true</active>
        <name>a</name><hosts><locationPatterns><locationMatch><location><host>a.example</host></location>
        <enabled>true</enabled></locationMatch></locationPatterns></hosts><rules><rewriteRule><active>true</active>
        <ruleType>#</ruleType><matchValue>a</matchValue><newValue>b</newValue><matchRequest>true</matchRequest>
        <replaceType>#</replaceType></rewriteRule></rules></rewriteSet></sets></rewrite></entry>
        </configs></toolConfiguration>
        <throttlingConfiguration><bandwidthDown>#</bandwidthDown><bandwidthUp>#</bandwidthUp>
        <utilisationDown>#</utilisationDown><utilisationUp>#</utilisationUp><latency>#</latency>
        <reliability>#</reliability><mtu>#</mtu><lowQuality>#</lowQuality><highQuality>#</highQuality>
        <stability>#</stability><selectedHosts>false</selectedHosts></throttlingConfiguration>
        <accessControlConfiguration><ipRanges><ipRange><ip><int>#</int><int>0</int><int>0</int><int>0</int></ip>
        <mask><int>#</int><int>0</int><int>0</int><int>0</int></mask></ipRange></ipRanges></accessControlConfiguration>
        </charles-export>
        """

    static var seeds: [[UInt8]] {
        let usual = Array(HostileNumbers.filled(template) { _ in nil }.utf8)
        return [FuzzInput.made(usual), FuzzInput.made([], [1, 3, 9, 27, 81, 5])]
    }
}
