import HTTPModel
import Rules
import Tools

extension ConsoleModel {
    /// Passes the selected host through unread from now on, or decrypts it from now on: whichever is not so.
    mutating func switchDecrypting() -> [Effect] {
        if let refused = refusedRecord { return [.decrypt(refused.url.authority)] }
        if let reason = noTLS { return refuse(reason) }
        guard let place = selectedPlace, let (name, port) = RequestURL.splitAuthority(place) else {
            return refuse("Select an exchange or a host, or name one: decrypt HOST, pass HOST.")
        }
        let isDecrypted = intercept.decrypts(host: name, port: port ?? 443)
        if isDecrypted, !isTreeInUse, selectedRecord?.flags.contains(.notIntercepted) == true {
            tell("\(place) is decrypted from its next connection on; this tunnel was opened before.")
            return []
        }
        return isDecrypted ? pass(place) : decrypt(place)
    }

    /// Passes a host through unread from the next connection on.
    mutating func pass(_ host: String?) -> [Effect] {
        if host == nil, let reason = noTLS { return refuse(reason) }
        guard let place = host ?? selectedPlace else { return refuse("Select an exchange, or name a host: pass HOST.") }
        guard let (name, port) = RequestURL.splitAuthority(place) else { return refuseHost(place) }
        guard intercept.decrypts(host: name, port: port ?? 443) else {
            tell("\(place) is not decrypted already; \(way(to: .decrypt)) decrypts it.")
            return []
        }
        do {
            let texts = rules.editableTexts
            let index = texts.lastIndex { RuleEditing.profile($0).hasIntercept } ?? texts.count - 1
            let changed = try RuleEditing.edit(texts, index) { try $0.exclude(place) }
            let back = isLinear ? "decrypt \(place)" : way(to: .decrypt)
            let words = "\(place) will not be decrypted (from its next connection on); \(back) decrypts it again."
            return apply(changed, words)
        } catch {
            return refuse("\(error)")
        }
    }

    /// Decrypts a host from its next connection on, if rules exclude it or its clients refused our certificate.
    mutating func decrypt(_ host: String?) -> [Effect] {
        if host == nil, let reason = noTLS { return refuse(reason) }
        guard let place = host ?? selectedPlace else {
            return refuse("Select a tunnel, or name the host: decrypt HOST.")
        }
        guard let (name, port) = RequestURL.splitAuthority(place) else { return refuseHost(place) }
        guard !intercept.decrypts(host: name, port: port ?? 443) else { return [.decrypt(place)] }
        do {
            var texts = rules.texts
            // A rule may name the host alone, or with its port.
            let names = [place, name, "\(name):\(port ?? 443)"]
            for index in texts.indices {
                for name in names { texts = try RuleEditing.edit(texts, index) { _ = try $0.include(name) } }
            }
            guard RuleEditing.intercept(of: texts).decrypts(host: name, port: port ?? 443) else {
                let why = RuleEditing.intercept(of: rules.texts).text ?? ""
                return refuse("'intercept' of the profile excludes \(place) (\(why)); change it there, then reload.")
            }
            return apply(texts, "\(place) is decrypted from its next connection on; open tunnels stay.")
        } catch {
            return refuse("\(error)")
        }
    }

    /// Stops verifying the certificate of a server from the next request on, or verifies it again.
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

    private mutating func refuseHost(_ place: String) -> [Effect] {
        refuse("'\(place.prefix(80))' is not a host, such as api.example.com or localhost:8443.")
    }

    /// Host and port of what is selected, as `intercept` names them.
    private var selectedPlace: String? {
        let url = isTreeInUse ? structure.selectedRow?.child.node.url ?? selectedRecord?.url : selectedRecord?.url
        guard let url, !url.host.isEmpty else { return nil }
        return url.placeOfTLS
    }

    /// Why the selected exchange has nothing to decrypt or to pass; `nil` if it may.
    private var noTLS: String? {
        isTreeInUse ? nil : selectedRecord?.noTLS
    }

    private var intercept: InterceptRules { RuleEditing.intercept(of: rules.texts) }

    mutating func switchEverything() -> [Effect] {
        guard let tool = ToolRegistry.standard.onEverything, let rule = tool.onEverything else { return [] }
        do {
            if let entry = RuleEditing.ruleOnEverything(in: rules.texts) {
                let texts = try RuleEditing.edit(rules.texts, entry.text) { try $0.remove(entry.rule.id) }
                let count = proxy.holds.count
                let waiting = LinearSentence.count(count, "message")
                let rest =
                    count > 0 ? " Still held: \(waiting); \(way(to: .holds)) shows them." : ""
                return apply(texts, "New messages are no longer held.\(rest)")
            }
            let texts = try RuleEditing.put(rule.yaml, tool, replacing: nil, in: rules.editableTexts)
            let stop = way(to: .breakEverything)
            return switchOn(tool) + apply(texts, "Every request and response is held from now on; \(stop) stops that.")
        } catch {
            return refuse("\(error)")
        }
    }
}

extension RequestURL {
    /// Host and port as `intercept` names them: without the port of https.
    var placeOfTLS: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}

extension ExchangeRecord {
    /// Why there is nothing to decrypt or to pass; `nil` if there may be.
    var noTLS: String? {
        if kind == .http, url.scheme == "http" { return "This exchange is plain HTTP: there is nothing to decrypt." }
        guard kind == .tunnel, flags.isDisjoint(with: [.tunnelledTLS, .notIntercepted]) else { return nil }
        return "This tunnel has no TLS: there is nothing to decrypt."
    }
}

extension RuleEditing {
    /// Which hosts the texts have decrypted; every one if the texts cannot be read.
    static func intercept(of texts: [ProfileSource]) -> InterceptRules {
        (try? RuleProfile(sources: texts))?.intercept ?? InterceptRules()
    }
}

extension EditableProfile {
    fileprivate var hasIntercept: Bool { ((try? rules(of: .intercept)) ?? []).isEmpty == false }
}
