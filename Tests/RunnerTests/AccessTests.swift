import Foundation
import ProxyServer
import Runner
import Testing
import Wire

@Suite("Who may use a proxy that other machines reach")
struct AccessTests {
    /// Why a proxy does not start at an address that no machine has (RFC 5737).
    private func refusal(_ profile: String) async throws -> String? {
        let directory = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = try CertificateAuthority.open(directory: directory)
        var settings = RunSettings()
        (settings.listeners[0].host, settings.listeners[0].port) = ("192.0.2.1", 0)
        settings.recordsNothing = true
        settings.hasControl = false
        settings.authority = "\(directory)/\(CertificateAuthority.fileName)"
        settings.profiles = ["\(directory)/p.yaml"]
        try Data("version: 1\n\(profile)".utf8).write(to: URL(fileURLWithPath: settings.profiles[0]))
        do {
            _ = try await RunningProxy.start(settings)
            return nil
        } catch {
            return (error as? StartError)?.message
        }
    }

    @Test("The networks of a profile open the listener as --allow does; a profile without any does not")
    func profileNetworks() async throws {
        #expect(try await refusal("access: [ 198.51.100.0/24 ]") == "192.0.2.1 is no address of this machine.")
        for profile in ["", "access: []"] {
            #expect(
                try await refusal(profile) == "Listening on 192.0.2.1 lets other machines reach the proxy."
            )
        }
    }
}
