import HTTPModel
import Testing

@testable import ProxyServer
@testable import Wire

@Suite("What an upstream proxy says when it refuses")
struct UpstreamRefusalTests {
    private func told(_ status: Int, _ reason: String, _ line: String) throws -> String {
        let answer = ProxyRefusal.HTTPAnswer(status: status, reason: reason, firstLine: line)
        return try UpstreamProxy("http://proxy:3128").failure(.status(answer), to: "a.test:443").message
    }

    @Test(
        "is said once, in sentences",
        arguments: [
            (403, "Access violation", "403 Access violation", "403 Access violation."),
            (403, "Forbidden", "HTTP Error 403: Forbidden", "403 Forbidden."),
            (403, "Forbidden", "403", "403 Forbidden."),
            (403, "", "", "403."), (403, "No.", "no", "403 No."),
            (403, "Filtered", "Not from here", "403 Filtered. It says: Not from here."),
            (503, "Down", "Come back later!", "503 Down. It says: Come back later!"),
            (403, "", "403 Access violation", "403. It says: 403 Access violation."),
        ]
    )
    func once(status: Int, reason: String, line: String, words: String) throws {
        let told = try told(status, reason, line)
        #expect(told == "The upstream proxy http://proxy:3128 refused to connect to a.test:443: \(words)")
    }
}
