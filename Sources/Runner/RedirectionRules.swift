/// The packet filter's rules that redirect connections to a listener of mode `transparent`: a file for Linux' `nft`.
package struct RedirectionRules: Sendable, Hashable {
    /// Whose connections are redirected.
    package enum Part: String, Sendable, Hashable, CaseIterable {
        /// Those of other machines, which have this one as their gateway.
        case gateway
        /// Those of this machine's own programs.
        case local
    }

    /// The port that Sluice listens on.
    package var port: Int
    /// The servers' ports whose connections are redirected.
    package var serverPorts: [Int]
    /// The number of the user that Sluice runs as, whose connections are left alone.
    package var user: UInt32
    package var parts: Set<Part>

    package init(port: Int, serverPorts: [Int], user: UInt32, parts: Set<Part> = Set(Part.allCases)) {
        self.port = port
        self.serverPorts = serverPorts
        self.user = user
        self.parts = parts
    }

    /// The table in which all of it is, so that it goes as a whole.
    package static let table = "inet sluice"

    /// What prints this file.
    private var command: String {
        var words = ["sluice transparent --print --port \(port)"]
        if serverPorts != [80, 443] {
            words.append("--server-ports \(serverPorts.map(String.init).joined(separator: ","))")
        }
        if let part = parts.first, parts.count == 1 { words.append("--only \(part.rawValue)") }
        // The present user is another one where this is run by somebody else.
        if parts.contains(.local) { words.append("--user \(user)") }
        return words.joined(separator: " ")
    }

    /// The chain that refuses HTTP/3, if HTTPS is redirected.
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

    /// The file: the table anew, whatever was in it before.
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
