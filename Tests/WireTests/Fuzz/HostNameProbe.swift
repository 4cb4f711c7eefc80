import HTTPModel
import Support
import Text
import Wire

/// Reads bytes as a host that a client names, and as its credentials: what is read is a place that can be asked for, has
/// the same name for the resolver as for the certificate, and means the same when it is written and read again.
enum HostNameProbe {
    /// Labels that are longer than this have one form alone.
    private static let longestLabel = 253

    /// Runs the probe.
    static func run(_ whole: [UInt8]) throws {
        let bytes = FuzzInput(whole).bytes
        try credentials(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        try forms(text)
        guard let (host, port) = RequestURL.splitAuthority(text) else { return }
        try demand(!host.isEmpty, "a host of no letters")
        try demand(port.map { (1...65_535).contains($0) } ?? true, "port \(port ?? 0)")
        try forms(host)
        let written = RequestURL(scheme: "tunnel", host: host, port: port ?? 1, path: "").authority
        let again = RequestURL.splitAuthority(written)
        try demand(again?.host == host && again?.port == port ?? 1, "\(written) is read as \(again?.host ?? "nothing")")
        try demand(host.utf8.last != UInt8(ascii: "."), "the root's dot of \(host)")
        if let rooted = RequestURL.rootedName(of: bytes) {
            try demand(rooted.utf8.last == UInt8(ascii: "."), "\(rooted) has no dot")
        }
        guard case .dns(let name)? = HostName(host) else { return }
        let asked = HostName.inASCII(host)
        try demand(name == asked.lowercased(), "\(name) is to be certified, \(asked) is asked for")
    }

    private static func forms(_ host: String) throws {
        let ascii = HostName.inASCII(host)
        try demand(HostName.inASCII(ascii) == ascii, "\(ascii) becomes \(HostName.inASCII(ascii))")
        guard let forms = HostForms(host) else { return }
        _ = forms.suspicion
        try demand(!forms.text.isEmpty && forms.name != forms.ascii, "\(forms.text) is one form")
        for label in forms.ascii.split(separator: ".") where label.utf8.count <= longestLabel {
            try demand(label.utf8.allSatisfy { $0 < 0x80 }, "\(label) of \(forms.ascii) is not ASCII")
        }
        // What is ASCII stays in its case; of other letters the form in ASCII is that of the lower case.
        guard let again = HostForms(forms.ascii), forms.ascii.utf8.count <= longestLabel else { return }
        try demand(again.ascii == forms.ascii, "\(forms.ascii) becomes \(again.ascii)")
        let written = HostForms(again.name)?.ascii.lowercased()
        try demand(written == again.ascii.lowercased(), "\(again.name) does not lead to \(again.ascii)")
    }

    private static func credentials(_ bytes: [UInt8]) throws {
        guard let credentials = BasicCredentials(fieldValue: bytes) else { return }
        try demand(!credentials.user.contains(UInt8(ascii: ":")), "a user with a colon")
        let again = BasicCredentials(fieldValue: credentials.fieldValue.utf8)
        try demand(again == credentials, "\(credentials.fieldValue) is read as others")
    }

    /// For the fuzzer's corpus.
    static let seeds: [[UInt8]] = [
        "api.example.com:443", "[fe80::1%25en0]:8080", "A.b.", "xn--pple-43d.com", "xn--bcher-kva.example:80",
        "b\u{FC}cher.example", "\u{430}pple.com.", "\u{212A}.example", "\u{600}.", "[::1]\u{301}:1",
        "\u{4F8B}\u{3048}.jp", "xn--a.xn--", "[.]", "a:\u{301}80", "Basic YWRhOnB3", "basic  YTo=",
    ].map { FuzzInput.made(Array($0.utf8)) }
}
