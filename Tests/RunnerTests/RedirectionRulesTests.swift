import Foundation
import Testing

@testable import Runner

@Suite("The packet filter's rules")
struct RedirectionRulesTests {
    @Test("The comment has the command that prints this very file")
    func command() {
        func line(_ rules: RedirectionRules) -> String? {
            rules.text.split(separator: "\n").first { $0.contains("in force:") }.map { String($0.dropFirst(16)) }
        }
        #expect(
            line(RedirectionRules(port: 8_080, serverPorts: [80, 443], user: 7))
                == "sluice transparent --print --port 8080 --user 7 | sudo nft -f -"
        )
        #expect(
            line(RedirectionRules(port: 1, serverPorts: [80, 8_443], user: 7, parts: [.gateway]))
                == "sluice transparent --print --port 1 --server-ports 80,8443 --only gateway | sudo nft -f -"
        )
        #expect(
            line(RedirectionRules(port: 1, serverPorts: [80, 443], user: 7, parts: [.local]))
                == "sluice transparent --print --port 1 --only local --user 7 | sudo nft -f -"
        )
    }

    @Test("HTTP/3 is refused where HTTPS is redirected, for other machines and for this one's programs but Sluice's")
    func http3() {
        func chains(_ rules: RedirectionRules) -> [String] {
            rules.text.components(separatedBy: "    chain ").filter { $0.contains("udp dport 443 reject") }
        }
        let both = chains(RedirectionRules(port: 1, serverPorts: [80, 443], user: 7))
        #expect(both.map { $0.prefix { $0 != " " } } == ["gateway_http3", "own_http3"])
        #expect(both.map { $0.contains("meta skuid 7 accept") } == [false, true])
        #expect(chains(RedirectionRules(port: 1, serverPorts: [443], user: 7, parts: [.local])).count == 1)
        #expect(chains(RedirectionRules(port: 1, serverPorts: [80, 8_443], user: 7)).isEmpty)
    }
}
