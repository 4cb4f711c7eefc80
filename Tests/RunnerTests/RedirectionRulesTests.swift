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
}
