enum DemoProfile {
    static let unreadHost = "127.0.0.1"
    /// It has no address (RFC 2606).
    static let blockedHost = "tracker.example"
    static let mappedPath = "/api/hours"
    static let heldPath = "/api/login"
    static let rewrittenPath = "/api/articles"
    static let stamp = (name: "X-Stamped-By", value: "a rewrite rule")
    static let hours = "{ \"open\": \"06:00\", \"closed\": \"22:00\", \"from\": \"a file\" }\n"

    /// If nobody attends the demo, a held message is sent after a time.
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

    static let authorityFile = "origin.pem"
}
