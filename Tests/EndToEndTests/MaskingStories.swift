import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Exports without secrets")
    struct MaskingStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test(
            "None of 60 planted secrets is in any export, none of 60 ordinary values is gone, and a script runs again"
        )
        func leaks() async throws {
            let outcome = try await Program.run(
                "python3",
                [script("masking.py"), try SluiceProcess.executable(), scratch.path],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"]
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }

        @Test("What looks like a secret is told; --strict then writes nothing, until a profile says what it is")
        func suspicion() async throws {
            let secret = "9f3A7c21Bd08e6QzKm41Wx77"
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(scratch: scratch)
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/x?reference=\(secret)")
            _ = try await sluice.exchange(path: "/x")
            let path = scratch.path("out.har")
            let export = ["export", sluice.session, "--format", "har", "-o", path]
            let strict = try await sluice.command(export + ["--strict"])
            #expect(strict.status == 1, "\(strict.errors)")
            #expect(strict.errors.contains("exchange 1, URL, reference: 9f3A7c…"), "\(strict.errors)")
            #expect(!strict.errors.contains(secret) && !FileManager.default.fileExists(atPath: path))
            let profile = try scratch.write("mask.yaml", "version: 1\nmask: { also: [ reference ] }\n")
            let masked = try await sluice.command(export + ["--strict", "--profile", profile])
            #expect(masked.status == 0 && masked.errors.contains("1 secret is masked"), "\(masked.errors)")
            let har = latin1(scratch.bytes("out.har"))
            #expect(har.contains("/x?reference=sluice-value-1") && !har.contains(secret))
            let kept = try await sluice.command(["export", sluice.session, "--format", "har", "--secrets"])
            #expect(kept.text.contains("/x?reference=\(secret)") && !kept.errors.contains("masked"))
            #expect(try await sluice.stop().status == 0)
        }
    }
}
