import Foundation
import Support
import Testing

extension UserStories.LinearConsole {
    @Test("Copies and exports by words: whole, masked, with secrets")
    func masking() async throws {
        let nginx = try await ReportingNginx()
        let console = try await LinearProcess()
        let token = "tok-5f4dcc3b5aa765d6"
        let profile = try console.scratch.write("mask.yaml", Array("version: 1\nmask: { also: [ x-tenant ] }\n".utf8))
        try await console.curl(
            "http://127.0.0.1:\(nginx.plain)/one",
            ["-H", "Authorization: Bearer \(token)", "-H", "X-Tenant: acme"]
        )
        try await console.hears("1, GET ")
        try await console.says("copy-masked", until: "Nothing was copied yet; copy copies.")
        let whole = try await console.says("copy curl last", until: "It holds 1 secret; copy-masked copies it masked.")
        #expect(whole.contains("Bearer \(token)"))
        let masked = try await console.says("copy-masked", until: "curl -H")
        #expect(masked.contains("\"${SLUICE_TOKEN_1:?token of 127.0.0.1}\"") && !masked.contains(token))
        let named = try await console.says("copy fetch last masked", until: "});")
        #expect(named.contains("Bearer sluice-token-1") && !named.contains(token))
        // What is masked besides is said by the profile that is in force.
        try await console.says("profile \(profile)", until: "Loaded")
        let (har, kept) = (console.scratch.path("a.har"), console.scratch.path("b.har"))
        try await console.says("export har \(har)", until: "masked in ")
        let text = String(decoding: console.scratch.bytes("a.har"), as: UTF8.self)
        #expect(!text.contains(token) && !text.contains("acme"))
        try await console.says("export har shown secrets \(kept)", until: "with its secrets.")
        #expect(String(decoding: console.scratch.bytes("b.har"), as: UTF8.self).contains(token))
        // Lines and pages for people are never masked.
        #expect(try await console.says("show last request", until: "End of request").contains(token))
    }
}
