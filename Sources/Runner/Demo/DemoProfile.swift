import Foundation
import Wire

/// The files of a proxy that knows the demo's origin.
enum DemoProfile {
    /// A host that is passed through unread.
    static let unreadHost = "127.0.0.1"
    /// A host that is blocked; it has no address anywhere (RFC 2606).
    static let blockedHost = "tracker.example"
    /// A path that is answered from a file.
    static let mappedPath = "/api/hours"
    /// A path whose requests are held.
    static let heldPath = "/api/login"
    /// A path whose answers are rewritten.
    static let rewrittenPath = "/api/articles"
    /// What the answers to that get.
    static let stamp = (name: "X-Stamped-By", value: "a rewrite rule")
    /// What the answer from a file is.
    static let hours = "{ \"open\": \"06:00\", \"closed\": \"22:00\", \"from\": \"a file\" }\n"

    /// The rules, one of each of the usual kinds; unattended, what is held goes on by itself.
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
    static func writeFixtures(in directory: String, authority: CertificateAuthority) throws {
        try write(hours, to: "\(directory)/hours.json")
        try write(authority.certificatePEM, to: authorityFile(in: directory))
    }

    /// Writes the rules; returns the file they are in.
    static func writeRules(in directory: String, isAttended: Bool) throws -> String {
        let file = "\(directory)/demo.yaml"
        try write(text(isAttended: isAttended), to: file)
        return file
    }

    /// Where the certificate of the origin's authority is.
    static func authorityFile(in directory: String) -> String { "\(directory)/origin.pem" }

    private static func write(_ text: String, to path: String) throws {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw StartFailure("\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
