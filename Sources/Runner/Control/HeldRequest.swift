import Content
import ExchangeCore
package import HTTPModel
import Rules
import Text

/// Edits of a held request's method and URL.
struct HeldRequest {
    var head: RequestHead
    var destination: Destination

    mutating func setMethod(_ method: String) throws(ControlError) {
        guard method.isToken else {
            throw ControlError("'\(method.prefix(40))' is not a method.", hint: "Write a word such as POST.")
        }
        guard method != "CONNECT" else { throw ControlError("A request cannot be made a CONNECT.") }
        head.method = method
    }

    /// The Host field is changed, too, if it named the old destination.
    mutating func setURL(_ text: String) throws(ControlError) {
        // An unedited URL stays unchanged, even if it could not be read.
        guard text != destination.url(of: head) else { return }
        guard let plain = HeldRequest.plain(text), let new = RequestURL(plain) else {
            throw ControlError("'\(text.prefix(200))' is not an absolute URL.", hint: "Write https://host:8443/path")
        }
        let scheme = new.scheme == "ws" ? "http" : new.scheme == "wss" ? "https" : new.scheme
        if (scheme, new.host, new.port) != (destination.scheme, destination.host, destination.port) {
            let hostFollows = hostNamesDestination
            destination = Destination(scheme: scheme, host: new.host, port: new.port)
            if hostFollows { head.fields.set("Host", new.authority) }
        }
        if head.target != new.pathAndQuery { head.target = new.pathAndQuery }
    }

    /// The URL with its target percent-encoded.
    private static func plain(_ url: String) -> String? {
        guard let place = url.firstRange(of: "://") else { return nil }
        let end = url[place.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        return HeldRequest.target(String(url[end...])).map { url[..<end] + $0 }
    }

    /// Percent-encoded for a request target; `nil` for control characters.
    private static func target(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return FormFields.encoded(text) { $0 > 0x20 && $0 < 0x7F && !"\"<>".utf8.contains($0) }
    }

    /// The query stays, unless the text has one.
    mutating func setPath(_ text: String) throws(ControlError) {
        guard text.hasPrefix("/"), let plain = HeldRequest.target(text), !plain.contains("#") else {
            throw ControlError("A path begins with '/' and has no '#'; not '\(text.prefix(200))'.")
        }
        setTarget(Array(plain.utf8), plain.contains("?") ? nil : query)
    }

    private static let mark = UInt8(ascii: "?")

    /// Without its `?`.
    var query: [UInt8]? {
        get { head.targetBytes.firstIndex(of: HeldRequest.mark).map { Array(head.targetBytes[($0 + 1)...]) } }
        set { setTarget(head.targetBytes.prefix { $0 != HeldRequest.mark }, newValue) }
    }

    private mutating func setTarget(_ path: some Collection<UInt8>, _ query: [UInt8]?) {
        head.setTarget(Array(path) + (query.map { [HeldRequest.mark] + $0 } ?? []))
    }

    private var hostNamesDestination: Bool {
        guard let host = head.fields.value(of: .host), let place = RequestURL.splitAuthority(host) else { return true }
        let port = place.port ?? RequestURL.defaultPort(of: destination.scheme)
        return place.host == destination.host && port == destination.port
    }
}

extension ResponseHead {
    /// Sets a final status, and its standard reason if the status changes.
    mutating func setStatus(_ status: Int) throws(ControlError) {
        guard (200...999).contains(status) else {
            throw ControlError("\(status) is not a status of a final response.", hint: "Use 200 to 599.")
        }
        if self.status != status { reason = ResponseHead.standardReason(status) }
        self.status = status
    }
}

package enum HeaderRules {
    /// Whether Sluice sets the field from the body, so that it cannot be edited.
    package static func isFraming(_ field: Field) -> Bool { isFraming(FieldName(field.name)) }

    private static func isFraming(_ name: FieldName) -> Bool { name == .contentLength || name == .transferEncoding }

    static func checkName(_ name: String) throws(ControlError) {
        guard name.isToken else { throw ControlError("'\(name.prefix(40))' is not a header field name.") }
        guard !isFraming(FieldName(name)) else { throw ControlError("\(name) follows from the body; Sluice sets it.") }
    }

    static func check(_ pair: HoldEdit.Pair) throws(ControlError) {
        try checkName(pair.name)
        guard pair.value.isFieldValue else {
            throw ControlError("The value of \(pair.name) has control characters, which no field may have.")
        }
    }
}
