import Foundation
import ProxyServer
import Runner
import Testing
import Wire

@testable import Jobs

@Suite("Who may use a proxy that other machines reach")
struct AccessTests {
    /// Why a proxy does not start at an address that no machine has (RFC 5737).
    private func refusal(
        _ profile: String,
        host: String = "192.0.2.1",
        mode: ListenerMode = .regular
    ) async throws -> StartError? {
        let directory = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = try CertificateAuthority.open(directory: directory)
        var settings = RunSettings()
        settings.listeners[0].mode = mode
        (settings.listeners[0].host, settings.listeners[0].port) = (host, 0)
        settings.recordsNothing = true
        settings.hasControl = false
        settings.authority = "\(directory)/\(CertificateAuthority.fileName)"
        settings.profiles = ["\(directory)/p.yaml"]
        try Data("version: 1\n\(profile)".utf8).write(to: URL(fileURLWithPath: settings.profiles[0]))
        do {
            _ = try await RunningProxy.start(settings)
            return nil
        } catch {
            return error as? StartError
        }
    }

    @Test("The networks of a profile open the listener as --allow does; a profile without any does not")
    func profileNetworks() async throws {
        #expect(
            try await refusal("access: [ 198.51.100.0/24 ]")?.message == "192.0.2.1 is not an address of this machine."
        )
        for profile in ["", "access: []"] {
            let refusal = try await refusal(profile)
            #expect(refusal?.message == "Listening on 192.0.2.1 lets other machines reach the proxy.")
        }
    }

    @Test("To listen for other machines without saying which is wrong usage; what is no address is said to be none")
    func wrongUsage() async throws {
        for host in ["0.0.0.0", "::", "1.2.3.4"] {
            for mode in [ListenerMode.regular, .socks5] {
                let refusal = try #require(try await refusal("", host: host, mode: mode))
                #expect(refusal.isUsage && refusal.message.hasPrefix("Listening on \(host) lets other machines reach"))
            }
        }
        for host in ["999.1.1.1", "127.0.0.256", "1.2.3.4.5", "fe80::zz", "1::2::3"] {
            let refusal = try #require(try await refusal("access: [ 10.0.0.0/8 ]", host: host))
            #expect(refusal.isUsage && refusal.message == "\(host) is not an address.")
        }
    }
}
