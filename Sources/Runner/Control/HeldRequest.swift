import ExchangeCore
import HTTPModel

/// A held request whose method and URL are edited.
struct HeldRequest {
    var head: RequestHead
    var destination: Destination

    /// The URL that it asks for as things stand.
    var url: String { destination.url(of: head) }

    mutating func setMethod(_ method: String) throws(ControlFailure) {
        guard HeaderRules.isToken(method) else {
            throw ControlFailure("'\(method.prefix(40))' is no method.", hint: "A method is a word, such as POST.")
        }
        guard method != "CONNECT" else { throw ControlFailure("A request cannot be made a CONNECT.") }
        head.method = method
    }

    /// Sends the request to another URL, and its Host field with it where that named the old place.
    mutating func setURL(_ text: String) throws(ControlFailure) {
        // What the user left alone stays as it is, also where it is no URL that we would write.
        guard text != url else { return }
        guard let plain = HeldRequest.plain(text), let new = RequestURL(plain) else {
            throw ControlFailure(
                "'\(text.prefix(200))' is no URL to send a request to.",
                hint: "It is absolute, for example https://host:8443/path?query; its path can be edited alone."
            )
        }
        let scheme = new.scheme == "ws" ? "http" : new.scheme == "wss" ? "https" : new.scheme
        if (scheme, new.host, new.port) != (destination.scheme, destination.host, destination.port) {
            let isHostOurs = hostNamesDestination
            destination = Destination(scheme: scheme, host: new.host, port: new.port)
            if isHostOurs { head.fields.set("Host", new.authority) }
        }
        if head.target != new.pathAndQuery { head.target = new.pathAndQuery }
    }

    /// The URL with what follows its host percent-encoded where it must be; a host is what it is.
    private static func plain(_ url: String) -> String? {
        guard let place = url.firstRange(of: "://") else { return nil }
        let end = url[place.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        return NamedValues.target(String(url[end...])).map { url[..<end] + $0 }
    }

    /// Replaces the path; the query stays, unless the text has one.
    mutating func setPath(_ text: String) throws(ControlFailure) {
        guard text.hasPrefix("/"), let plain = NamedValues.target(text), !plain.contains("#") else {
            throw ControlFailure("A path begins with '/' and has no '#'; '\(text.prefix(200))' is none.")
        }
        let query = plain.contains("?") ? nil : self.query
        setTarget(Array(plain.utf8), query)
    }

    mutating func setQuery(_ name: String, _ value: String) {
        query = NamedValues.set(name, value, in: query ?? [])
    }

    mutating func removeQuery(_ name: String) throws(ControlFailure) {
        guard let rest = NamedValues.remove(name, from: query ?? []) else {
            throw ControlFailure("There is no query parameter '\(name)' to remove.")
        }
        query = rest.isEmpty ? nil : rest
    }

    private static let mark = UInt8(ascii: "?")

    private var query: [UInt8]? {
        get { head.targetBytes.firstIndex(of: HeldRequest.mark).map { Array(head.targetBytes[($0 + 1)...]) } }
        set { setTarget(head.targetBytes.prefix { $0 != HeldRequest.mark }, newValue) }
    }

    private mutating func setTarget(_ path: some Collection<UInt8>, _ query: [UInt8]?) {
        head.setTarget(Array(path) + (query.map { [HeldRequest.mark] + $0 } ?? []))
    }

    /// Whether the Host field says where the request goes, and not something that was chosen.
    private var hostNamesDestination: Bool {
        guard let host = head.fields.value(of: .host), let place = RequestURL.splitAuthority(host) else { return true }
        let port = place.port ?? RequestURL.defaultPort(of: destination.scheme)
        return place.host == destination.host && port == destination.port
    }
}

/// What the parts of a head may be.
enum HeaderRules {
    /// Fields that follow from the body, and are not edited.
    static let framing: [FieldName] = [.contentLength, .transferEncoding]

    /// Whether a text is a token (RFC 9110 §5.6.2).
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    static func checkName(_ name: some StringProtocol) throws(ControlFailure) {
        guard isToken(name) else { throw ControlFailure("'\(name.prefix(40))' is no name of a header field.") }
        guard !framing.contains(FieldName(String(name))) else {
            throw ControlFailure("\(name) follows from the body; Sluice sets it.")
        }
    }

    /// Refuses what could end the line (RFC 9110 §5.5).
    static func check(_ pair: HoldEdit.Pair) throws(ControlFailure) {
        try checkName(pair.name)
        guard pair.value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw ControlFailure("The value of \(pair.name) has control characters, which no field may have.")
        }
    }

    static func checkStatus(_ status: Int) throws(ControlFailure) {
        guard (200...999).contains(status) else {
            throw ControlFailure("\(status) is no status of a final response.", hint: "They have 200 to 599.")
        }
    }
}
