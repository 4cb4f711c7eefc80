import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Numbers in profiles")
struct ProfileRangeTests {
    private static let template = """
        version: 1
        presets: { mine: { down: #, up: #, latency: # } }
        throttle:
          { only: a.example, down: #, up: #, utilisation: #, latency: #, mtu: #, reliability: #, stability: #, quality: [#, #],
            event-gap: #ms, seed: # }
        block: { at: a.example, action: 403, share: #, seed: # }
        map-local: { from: a.example, to: /srv/a, status: # }
        map-remote: { from: a.example, to: { host: b.example, port: # } }
        access: [ 10.0.0.0/# ]
        """

    @Test("Whatever a number is, the profile is read, or refused where the number stands")
    func numbers() throws {
        let count = HostileNumbers.count(Self.template)
        #expect(throws: Never.self) { try RuleProfile(Self.filled { _ in nil }, file: "p.yaml") }
        for place in 0..<count {
            for text in HostileNumbers.texts {
                let profile = Self.filled { $0 == place ? text : nil }
                do throws(ProfileError) {
                    _ = try RuleProfile(profile, file: "p.yaml").listing
                } catch {
                    let lines = error.issues.map(\.line)
                    #expect(lines.allSatisfy { (1...11).contains($0) }, "\(text) at \(place): \(error)")
                }
            }
        }
    }

    private static func filled(_ choose: (Int) -> String?) -> String {
        // The status, and the length of a network.
        HostileNumbers.filled(template) { choose($0) ?? ($0 == 16 ? "200" : $0 == 18 ? "8" : "1") }
    }
}
