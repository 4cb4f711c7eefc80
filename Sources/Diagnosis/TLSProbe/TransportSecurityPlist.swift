import Text
import Wire

extension TransportSecurity.Demands {
    /// For example `minimum TLS 1.1, no forward secrecy`.
    var title: String {
        if allowsArbitraryLoads { return "arbitrary loads allowed" }
        var words = minimum.map { ["minimum \($0.title)"] } ?? []
        if !needsForwardSecrecy { words.append("no forward secrecy") }
        if allowsInsecureHTTP { words.append("insecure HTTP allowed") }
        return words.isEmpty ? "default demands" : words.joined(separator: ", ")
    }

    /// The keys for `Info.plist`; empty for the default demands.
    var keys: [String] {
        if allowsArbitraryLoads { return ["NSAllowsArbitraryLoads = true"] }
        var keys = minimum.map { ["NSExceptionMinimumTLSVersion = TLSv1.\($0.rawValue - 0x0301)"] } ?? []
        if !needsForwardSecrecy { keys.append("NSExceptionRequiresForwardSecrecy = false") }
        if allowsInsecureHTTP { keys.append("NSExceptionAllowsInsecureHTTPLoads = true") }
        return keys
    }

    /// To be pasted into the outermost `dict` of `Info.plist`; for this host only (`NSIncludesSubdomains` is false). Empty
    /// for the default demands.
    func plist(host: String) -> String {
        let keys = keys
        guard !keys.isEmpty else { return "" }
        func member(_ key: String, _ depth: Int) -> String {
            let parts = key.split(separator: " ")
            let (name, value) = (parts.first ?? "", parts.last ?? "")
            let indent = String(repeating: "    ", count: depth)
            let tag = value == "true" || value == "false" ? "<\(value)/>" : "<string>\(value)</string>"
            return "\(indent)<key>\(name)</key>\n\(indent)\(tag)\n"
        }
        var text = "<key>NSAppTransportSecurity</key>\n<dict>\n"
        if allowsArbitraryLoads {
            text += keys.map { member($0, 1) }.joined()
        } else {
            text += "    <key>NSExceptionDomains</key>\n    <dict>\n"
            text += "        <key>\(host.lowercased().markupEscaped)</key>\n        <dict>\n"
            text += (["NSIncludesSubdomains = false"] + keys).map { member($0, 3) }.joined()
            text += "        </dict>\n    </dict>\n"
        }
        return text + "</dict>\n"
    }
}

extension TLSReport {
    /// The fewest exceptions with which an app connects; `nil` if it needs no exceptions, or if no exceptions help.
    var leastExceptions: TransportSecurity.Row? {
        let least = TransportSecurity.byLooseness.lazy.compactMap { demands in
            transportSecurity.first { $0.passes && $0.demands == demands }
        }
        return least.first.flatMap { $0.demands == .usual ? nil : $0 }
    }
}
