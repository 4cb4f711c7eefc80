import Tools

/// Settings in the shapes that Charles writes.
enum CharlesSamples {
    static let prolog = "<?xml version='1.0' encoding='UTF-8' ?>\n<?charles serialisation-version='2.0' ?>\n"

    /// Every tool, in one export.
    static let all =
        prolog + """
            <charles-export>
              <toolConfiguration>
                <configs>
                  <entry>
                    <string>Breakpoints</string>
                    <breakpoints>
                      <toolEnabled>true</toolEnabled>
                      <breakpoints>
                        <breakpoint>
                          <location><protocol>https</protocol><host>api.example.com</host><port>443</port><path>/login</path></location>
                          <scheme>POST</scheme>
                          <request>true</request>
                          <response>false</response>
                          <enabled>true</enabled>
                        </breakpoint>
                        <breakpoint>
                          <location><host>*.example.com</host></location>
                          <request>false</request>
                          <response>false</response>
                          <enabled>true</enabled>
                        </breakpoint>
                      </breakpoints>
                    </breakpoints>
                  </entry>
                  <entry>
                    <string>No Caching</string>
                    <selectedHostsTool>
                      <locations><locationPatterns>
                        <locationMatch><location><host>a.example</host></location><enabled>true</enabled></locationMatch>
                        <locationMatch><location><host>b.example</host></location><enabled>false</enabled></locationMatch>
                      </locationPatterns></locations>
                      <toolEnabled>true</toolEnabled>
                      <useSelectedLocations>true</useSelectedLocations>
                    </selectedHostsTool>
                  </entry>
                  <entry>
                    <string>Block Cookies</string>
                    <selectedHostsTool>
                      <locations><locationPatterns/></locations>
                      <toolEnabled>true</toolEnabled>
                      <useSelectedLocations>false</useSelectedLocations>
                    </selectedHostsTool>
                  </entry>
                  <entry>
                    <string>Map Remote</string>
                    <map>
                      <toolEnabled>true</toolEnabled>
                      <mappings>
                        <mapMapping>
                          <sourceLocation><protocol>https</protocol><host>api.example.com</host><path>/v1/*</path></sourceLocation>
                          <destLocation><protocol>http</protocol><host>localhost</host><port>3000</port><path>/v2/</path></destLocation>
                          <preserveHostHeader>true</preserveHostHeader>
                          <enabled>true</enabled>
                        </mapMapping>
                        <mapMapping>
                          <sourceLocation><host>old.example</host><port>0</port><path>*</path></sourceLocation>
                          <destLocation><host>new.example</host></destLocation>
                          <enabled>false</enabled>
                        </mapMapping>
                      </mappings>
                    </map>
                  </entry>
                  <entry>
                    <string>Map Local</string>
                    <mapLocal>
                      <toolEnabled>true</toolEnabled>
                      <mappings>
                        <mapLocalMapping>
                          <sourceLocation><host>api.example.com</host><path>/v1/user</path></sourceLocation>
                          <dest>/srv/mocks/user.json</dest>
                          <enabled>true</enabled>
                          <caseSensitive>false</caseSensitive>
                        </mapLocalMapping>
                      </mappings>
                    </mapLocal>
                  </entry>
                  <entry>
                    <string>Rewrite</string>
                    <rewrite>
                      <toolEnabled>true</toolEnabled>
                      <debugging>false</debugging>
                      <sets>
                        <rewriteSet>
                          <active>true</active>
                          <name>demo</name>
                          <hosts><locationPatterns><locationMatch>
                            <location><host>api.example.com</host><query>*page=1*</query></location>
                            <enabled>true</enabled>
                          </locationMatch></locationPatterns></hosts>
                          <rules>
                            <rewriteRule>
                              <active>true</active><ruleType>3</ruleType>
                              <matchHeader>Server</matchHeader><matchValue>nginx</matchValue>
                              <matchHeaderRegex>false</matchHeaderRegex><matchValueRegex>false</matchValueRegex>
                              <matchRequest>false</matchRequest><matchResponse>true</matchResponse>
                              <newHeader>Server</newHeader><newValue>google</newValue>
                              <newHeaderRegex>false</newHeaderRegex><newValueRegex>false</newValueRegex>
                              <matchWholeValue>false</matchWholeValue><caseSensitive>false</caseSensitive>
                              <replaceType>2</replaceType>
                            </rewriteRule>
                          </rules>
                        </rewriteSet>
                      </sets>
                    </rewrite>
                  </entry>
                  <entry>
                    <string>Block List</string>
                    <blacklist>
                      <locations><locationPatterns>
                        <locationMatch><location><host>*.tracker.example</host></location></locationMatch>
                      </locationPatterns></locations>
                      <toolEnabled>true</toolEnabled>
                      <useSelectedLocations>false</useSelectedLocations>
                      <action>1</action>
                    </blacklist>
                  </entry>
                  <entry>
                    <string>White List</string>
                    <whitelist>
                      <locations><locationPatterns>
                        <locationMatch><location><host>*.example.com</host></location><enabled>true</enabled></locationMatch>
                      </locationPatterns></locations>
                      <toolEnabled>false</toolEnabled>
                      <useSelectedLocations>false</useSelectedLocations>
                      <action>0</action>
                    </whitelist>
                  </entry>
                  <entry>
                    <string>DNS Spoofing</string>
                    <dnsSpoofing>
                      <toolEnabled>true</toolEnabled>
                      <spoofs>
                        <dnsSpoof><name>api.example.com</name><address>127.0.0.1</address><enabled>true</enabled></dnsSpoof>
                        <dnsSpoof><name>*.cdn.example</name><address>edge.example</address><enabled>false</enabled></dnsSpoof>
                      </spoofs>
                    </dnsSpoofing>
                  </entry>
                  <entry>
                    <string>Mirror</string>
                    <mirror>
                      <locations><locationPatterns/></locations>
                      <toolEnabled>true</toolEnabled>
                      <useSelectedLocations>false</useSelectedLocations>
                    </mirror>
                  </entry>
                  <entry><string>Reverse Proxies</string><reverseProxies><active>false</active><reverseProxies/></reverseProxies></entry>
                  <entry><string>Port Forwarding</string><portForwarding><active>false</active><portForwardings/></portForwarding></entry>
                </configs>
              </toolConfiguration>
              <throttlingConfiguration>
                <bandwidthDown>57.6</bandwidthDown>
                <bandwidthUp>33.6</bandwidthUp>
                <utilisationDown>70</utilisationDown>
                <utilisationUp>70</utilisationUp>
                <latency>250</latency>
                <reliability>100</reliability>
                <mtu>576</mtu>
                <lowQuality>100</lowQuality>
                <highQuality>100</highQuality>
                <stability>100</stability>
                <customPresets/>
                <hosts class="listAdapter"><list/></hosts>
                <selectedHosts>false</selectedHosts>
              </throttlingConfiguration>
            </charles-export>
            """

    /// A rewrite rule from its elements, those that are not given as Charles has them for a new one.
    static func rule(_ type: Int, _ elements: [String: String] = [:]) -> String {
        let usual = [
            "active": "true", "matchHeaderRegex": "false", "matchValueRegex": "false", "matchRequest": "false",
            "matchResponse": "false", "matchWholeValue": "false", "caseSensitive": "false", "replaceType": "2",
        ]
        let all = usual.merging(elements) { $1 }.sorted { $0.key < $1.key }
        let inner = all.map { "<\($0.key)>\($0.value)</\($0.key)>" }.joined()
        return "<rewriteRule><ruleType>\(type)</ruleType>\(inner)</rewriteRule>"
    }

    /// The rewrite dialog's own export, with one set for one host.
    static func sets(_ rules: String..., locations: String = location("<host>a.example</host>")) -> String {
        prolog + """
            <rewriteSet-array><rewriteSet><active>true</active><name>s</name>
            <hosts><locationPatterns>\(locations)</locationPatterns></hosts>
            <rules>\(rules.joined())</rules></rewriteSet></rewriteSet-array>
            """
    }

    static func location(_ fields: String, enabled: Bool = true) -> String {
        "<locationMatch><location>\(fields)</location><enabled>\(enabled)</enabled></locationMatch>"
    }
}
