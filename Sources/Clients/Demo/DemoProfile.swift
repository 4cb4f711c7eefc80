import Foundation
import Jobs
import Wire

/// The files of a proxy that knows the demo's origin.
enum DemoProfile {
    /// A host that is passed through unread.
    static let unreadHost = "127.0.0.1"
    /// A host that is blocked; it has no address (RFC 2606).
    static let blockedHost = "tracker.example"
    /// A path that is answered from a file.
    static let mappedPath = "/api/hours"
    /// A path whose requests are held.
    static let heldPath = "/api/login"
    /// A path whose answers are rewritten.
    static let rewrittenPath = "/api/articles"
    /// The field that these answers get.
    static let stamp = (name: "X-Stamped-By", value: "a rewrite rule")
    /// The answer from a file.
    static let hours = "{ \"open\": \"06:00\", \"closed\": \"22:00\", \"from\": \"a file\" }\n"

    /// The rules, one of each of the usual kinds; unattended, a held message goes on after a time.
    static func text(isAttended: Bool) -> String {
        """
        # The rules of the demo, one of each of the usual kinds.
        version: 1
        name: demo

        intercept: { except: ["\(unreadHost)"] }

        block:
          - { name: trackers, at: "\(blockedHost)", action: 403 }

        rewrite:
          - name: stamp articles
            at: "localhost\(rewrittenPath)"
            rules:
              - { add: header, on: response, name: \(stamp.name), to: "\(stamp.value)" }

        map-local:
          - { name: opening hours, from: "localhost\(mappedPath)", to: hours.json }

        breakpoints:
          - { name: login, at: "localhost\(heldPath)", method: POST, on: request\(isAttended ? "" : unattended) }

        """
    }

    private static let unattended = ", after: 500ms, then: execute"

    /// Writes what every proxy of the demo needs.
    static func writeFixtures(in directory: TemporaryDirectory, authority: CertificateAuthority) throws {
        _ = try directory.write(Data(hours.utf8), to: "hours.json")
        _ = try directory.write(Data(authority.certificatePEM.utf8), to: authorityFile)
    }

    /// Writes the rules; returns their file.
    static func writeRules(in directory: TemporaryDirectory, isAttended: Bool) throws -> String {
        try directory.write(Data(text(isAttended: isAttended).utf8), to: "demo.yaml")
    }

    /// The name of the file with the certificate of the origin's authority.
    static let authorityFile = "origin.pem"
}
