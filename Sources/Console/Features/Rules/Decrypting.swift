import HTTPModel
import Rules
import Tools

extension ConsoleModel {
    /// Decrypts a host. On the screen, a selected host that is decrypted is passed through unread from now on instead.
    mutating func decryptOrPass(_ host: String?) throws -> [Effect] {
        guard host == nil, !isLinear else { return try decrypt(host) }
        if let refused = refusedRecord { return [.decrypt(refused.url.authority)] }
        let missing = "Select an exchange or a host, or name one: decrypt HOST, pass HOST."
        let (place, name, port) = try placeOfTLS(nil, missing: missing)
        guard intercept.decrypts(host: name, port: port) else { return try decrypt(place) }
        guard !isTreeInUse, selectedRecord?.flags.contains(.notIntercepted) == true else { return try pass(place) }
        return tell("\(place) is decrypted from its next connection on; this tunnel was opened before.")
    }

    mutating func pass(_ host: String?) throws -> [Effect] {
        let missing = "Select an exchange, or name a host: pass HOST."
        let (place, name, port) = try placeOfTLS(host, missing: missing)
        guard intercept.decrypts(host: name, port: port) else {
            return tell("\(place) is not decrypted already; \(way(to: .decrypt)) decrypts it.")
        }
        let texts = rules.editableTexts
        let index = texts.lastIndex { (try? $0.editable.rules(of: .intercept))?.isEmpty == false }
        let changed = try texts.edited(index ?? texts.count - 1) { try $0.exclude(place) }
        let back = isLinear ? "decrypt \(place)" : way(to: .decrypt)
        let words = "\(place) will not be decrypted (from its next connection on); \(back) decrypts it again."
        return apply(changed, words)
    }

    /// Decrypts a host from its next connection on, if rules exclude it or its clients refused Sluice's certificate.
    mutating func decrypt(_ host: String?) throws -> [Effect] {
        let missing = "Select a tunnel, or name the host: decrypt HOST."
        let (place, name, port) = try placeOfTLS(host, missing: missing)
        guard !intercept.decrypts(host: name, port: port) else { return [.decrypt(place)] }
        var texts = rules.texts
        for index in texts.indices {
            // Rules may name the host with or without its port.
            for name in [place, name, "\(name):\(port)"] {
                texts = try texts.edited(index) { _ = try $0.include(name) }
            }
        }
        guard texts.intercept.decrypts(host: name, port: port) else {
            let why = intercept.text ?? ""
            return refuse("'intercept' of the profile excludes \(place) (\(why)); change it there, then reload.")
        }
        return apply(texts, "\(place) is decrypted from its next connection on; open tunnels stay.")
    }

    mutating func switchVerification(_ host: String?) -> [Effect] {
        if let host { return [.switchVerification(host)] }
        guard let record = selectedRecord, !isTreeInUse else {
            return refuse("Select an exchange, or name a host: \(Command.insecureHost.rawValue) HOST.")
        }
        if let host = record.failure?.unverifiedHost { return [.switchVerification(host)] }
        let url = record.sentURL ?? record.url
        guard url.scheme != "http" else { return refuse("This exchange is plain HTTP: there is no certificate.") }
        return [.switchVerification(url.host)]
    }

    /// The named or selected host with its port, in the form that `intercept` uses. Throws ``ConsoleError`` if the
    /// selected exchange has no TLS, if the name is invalid, or, with the message `missing`, if nothing is selected.
    private func placeOfTLS(_ named: String?, missing: String) throws -> (place: String, host: String, port: Int) {
        if named == nil, !isTreeInUse, let reason = selectedRecord?.noTLS { throw ConsoleError(reason) }
        let branch = isTreeInUse ? structure.selectedRow?.child.node.url : nil
        let selected = (branch ?? selectedRecord?.url).flatMap { $0.host.isEmpty ? nil : $0.placeOfTLS }
        guard let place = named ?? selected else { throw ConsoleError(missing) }
        guard let (host, port) = RequestURL.splitAuthority(place) else {
            throw ConsoleError("'\(place.prefix(80))' is not a host, such as api.example.com or localhost:8443.")
        }
        return (place, host, port ?? 443)
    }

    private var intercept: InterceptRules { rules.texts.intercept }

    mutating func switchEverything() throws -> [Effect] {
        guard let tool = ToolRegistry.standard.onEverything, let rule = tool.onEverything else { return [] }
        if let entry = rules.texts.ruleOnEverything {
            let texts = try rules.texts.edited(entry.text) { try $0.remove(entry.rule.id) }
            let waiting = LinearSentence.count(proxy.holds.count, "message")
            let rest = proxy.holds.isEmpty ? "" : " Still held: \(waiting); \(way(to: .holds)) shows them."
            return apply(texts, "New messages are no longer held.\(rest)")
        }
        let texts = try rules.editableTexts.putting(rule.yaml, tool, replacing: nil)
        let stop = way(to: .breakEverything)
        return switchOn(tool) + apply(texts, "Every request and response is held from now on; \(stop) stops that.")
    }
}

extension RequestURL {
    /// Host and port in the form that `intercept` uses: without port 443.
    var placeOfTLS: String { port == 443 ? HostAddress.bracketed(host) : HostAddress.withPort(host, port) }
}

extension ExchangeRecord {
    /// Why there is no TLS to decrypt or to pass through; `nil` if there may be TLS.
    var noTLS: String? {
        if kind == .http, url.scheme == "http" { return "This exchange is plain HTTP: there is nothing to decrypt." }
        guard kind == .tunnel, flags.isDisjoint(with: [.tunnelledTLS, .notIntercepted]) else { return nil }
        return "This tunnel has no TLS: there is nothing to decrypt."
    }
}
