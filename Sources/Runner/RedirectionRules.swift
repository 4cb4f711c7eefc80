/// Rules for Linux' `nft` that redirect connections to a listener of mode `transparent`.
package struct RedirectionRules: Sendable, Hashable {
    package enum Part: String, Sendable, Hashable, CaseIterable {
        /// Other machines that use this machine as their gateway.
        case gateway
        /// Programs of this machine.
        case local
    }

    package var port: Int
    package var serverPorts: [Int]
    /// The number of the user that Sluice runs as, whose connections are not redirected.
    package var user: UInt32
    package var parts: Set<Part>

    package init(port: Int, serverPorts: [Int], user: UInt32, parts: Set<Part> = Set(Part.allCases)) {
        (self.port, self.serverPorts, self.user, self.parts) = (port, serverPorts, user, parts)
    }

    /// One table, so that all of it can be removed at once.
    package static let table = "inet sluice"

    /// The command that prints this file.
    private var command: String {
        var words = ["sluice transparent --print --port \(port)"]
        if serverPorts != [80, 443] {
            words.append("--server-ports \(serverPorts.map(String.init).joined(separator: ","))")
        }
        if let part = parts.first, parts.count == 1 { words.append("--only \(part.rawValue)") }
        // Another user may run the command.
        if parts.contains(.local) { words.append("--user \(user)") }
        return words.joined(separator: " ")
    }

    /// Refuses HTTP/3, if HTTPS is redirected.
    private func noHTTP3(_ name: String, hook: String, except: String = "") -> String {
        guard serverPorts.contains(443) else { return "" }
        return """
                chain \(name)_http3 {
                    type filter hook \(hook) priority 0; policy accept;
                    # HTTP/3 does not pass through Sluice: a client whose packets are rejected falls back to TCP.
                    \(except)fib daddr type local accept
                    udp dport 443 reject
                }

            """
    }

    /// The file replaces an earlier table.
    package var text: String {
        let ports = serverPorts.map(String.init).joined(separator: ", ")
        var text = """
            #!/usr/sbin/nft -f
            # Redirects TCP to the ports \(ports) to Sluice on port \(port), for IPv4 and IPv6.
            #
            #   in force:   \(command) | sudo nft -f -
            #   gone again: sudo nft delete table \(RedirectionRules.table)


            """
        if parts.contains(.gateway) {
            text += """
                # Other machines need this one as their gateway (net.ipv4.ip_forward=1, net.ipv6.conf.all.forwarding=1), and
                # Sluice has to listen for them:
                #   sluice run --mode transparent@0.0.0.0:\(port) --allow NETWORK
                # or for IPv6 as well: --mode 'transparent@[::]:\(port)'

                """
        }
        if parts.contains(.local) {
            text += """
                # For programs of this machine Sluice has to run as another user than they do, here the one with number \(user):
                #   sluice run --mode transparent@127.0.0.1:\(port) --mode 'transparent@[::1]:\(port)'

                """
        }
        text += """

            table \(RedirectionRules.table)
            delete table \(RedirectionRules.table)
            table \(RedirectionRules.table) {

            """
        if parts.contains(.gateway) {
            text += """
                    chain gateway {
                        type nat hook prerouting priority -100; policy accept;
                        # What is for this machine itself stays as it is.
                        fib daddr type local accept
                        tcp dport { \(ports) } redirect to :\(port)
                    }

                """
            text += noHTTP3("gateway", hook: "forward")
        }
        if parts.contains(.local) {
            text += """
                    chain own {
                        type nat hook output priority -100; policy accept;
                        # Sluice's own connections to servers, which would come back to it.
                        meta skuid \(user) accept
                        fib daddr type local accept
                        tcp dport { \(ports) } redirect to :\(port)
                    }

                """
            text += noHTTP3("own", hook: "output", except: "meta skuid \(user) accept; ")
        }
        return text + "}\n"
    }
}
