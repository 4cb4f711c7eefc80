import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Map local: paths that try to get out")
struct MapLocalAttackTests {
    /// What a client may write to reach `secret`, which stands beside the directory that is mapped.
    static let attacks = [
        "../secret", "..%2fsecret", "..%2Fsecret", "%2e%2e/secret", "%2e%2e%2fsecret", ".%2e/secret", "%2e./secret",
        "sub/../../secret", "sub/%2e%2e/%2e%2e/secret", "sub/..%2f..%2fsecret", "./../secret", "sub/./../../secret",
        "..\\secret", "..%5csecret", "..%5Csecret", "sub\\..\\..\\secret", "sub%5c..%5c..%5csecret",
        "/secret", "//secret", "///etc/passwd", "/etc/passwd", "%2fetc%2fpasswd", "%2f%2fetc/passwd", "/%2e%2e/secret",
        "..%252fsecret", "%252e%252e/secret", "%252e%252e%252fsecret", "%c0%ae%c0%ae/secret", "..%c0%afsecret",
        "%c0%ae%c0%ae%c0%afsecret", "%e0%80%ae%e0%80%ae/secret", "..%e0%80%afsecret", "%f0%80%80%ae%f0%80%80%ae/secret",
        "%fe%fe/secret", "%ff", "%u002e%u002e/secret", "%uff0e%uff0e/secret", "..%ef%bc%8fsecret", "．．/secret",
        "%ef%bc%8e%ef%bc%8e/secret", "..%00/secret", "../secret%00.txt", "a.txt%00", "%00", "a.txt%0a", "a.txt%0d%0a",
        "..;/secret", "..;x=y/secret", "..%3b/secret", "...//secret", "....//secret", "..././secret", "..../secret",
        ".../secret", ".. /secret", "..%20/secret", "..%09/secret", "%2e%2e%09/secret", "..?/secret", "..#/secret",
        "~/secret",
        "~root/.profile", "file:///etc/passwd", "http://a.example/../secret", "C:/secret", "C:%5csecret", "sub/", "sub",
        "sub//a.txt", "a.txt/", "a.txt/../a.txt", "a.txt/../../secret", "%", "%2", "%zz", "a.txt%", "%25", "%2500",
        "link", "link/", "linkdir/secret", "linkdir/../secret", "sub/deep", "abs", "abs/passwd", "hard/../../secret",
        "a.txt.headers", "sub/.headers", String(repeating: "../", count: 40) + "etc/passwd",
        String(repeating: "a", count: 5_000), String(repeating: "a/", count: 5_000),
        String(repeating: "%2e%2e%2f", count: 20) + "etc/passwd",
    ]

    @Test("None reaches a file outside, through whichever location; what is inside is served")
    func attacks() throws {
        let folder = TestFolder([
            "root/a.txt": "inside", "root/sub/b.txt": "inside", "secret": "SECRET", "etc/passwd": "SECRET",
        ])
        try folder.link("root/link", to: "../secret")
        try folder.link("root/linkdir", to: "..")
        try folder.link("root/sub/deep", to: "../../secret")
        try folder.link("root/abs", to: "/etc")
        try folder.write("root/a.txt.headers", Data("X-Secret: SECRET\n".utf8))
        for from in ["'*'", "'a.example/*'", "'a.example/v1/*'", "'*/v1/*'"] {
            let profile = try RuleProfile(
                "version: 1\nmap-local: { from: \(from), to: root, on-miss: 404, case-sensitive: false }",
                file: "\(folder.path)/p.yaml"
            )
            let front = from.contains("v1") ? "/v1/" : "/"
            for attack in MapLocalAttackTests.attacks {
                var url = RequestURL(scheme: "http", host: "a.example", port: 80, path: "/")
                url.setPathAndQuery(front + attack)
                var dryRun = DryRun(profile)
                let exchange = dryRun.play(DryRunRequest(url: url))
                let answer = try #require(exchange.answered, "\(attack)")
                let body = String(buffer: answer.body)
                #expect(!body.contains("SECRET"), "\(attack)")
                #expect(!body.contains("root:"), "\(attack)")
                #expect(answer.head.status == 404, "\(attack) was answered with \(body)")
                #expect(exchange.trace.count == 1)
            }
        }
        #expect(MapLocalAttackTests.attacks.count >= 80)
    }

    @Test("The same folder serves what is asked for properly")
    func control() throws {
        let folder = TestFolder([
            "root/a.txt": "inside", "root/sub/b.txt": "inside", "root/100%": "inside", "root/..x": "inside",
        ])
        let profile = try RuleProfile("version: 1\nmap-local: { from: '*', to: root }", file: "\(folder.path)/p.yaml")
        for path in ["a.txt", "%61.txt", "sub/b.txt", "sub/%62.txt", "100%25", "..x", "%2E.x"] {
            var dryRun = DryRun(profile)
            let exchange = dryRun.play(try #require(DryRunRequest("http://a.example/\(path)")))
            #expect(exchange.answered.map { String(buffer: $0.body) } == "inside", "\(path)")
        }
    }
}
