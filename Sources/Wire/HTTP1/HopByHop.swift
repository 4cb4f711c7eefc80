package import HTTPModel

/// Removes fields that are meant for one connection only (RFC 9110 §7.6.1).
package enum HopByHop {
    package struct Kept: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `Upgrade`, with its option in `Connection`.
        package static let upgrade = Kept(rawValue: 1 << 0)
        /// The option `keep-alive`, if the next connection is persistent too.
        package static let keepAlive = Kept(rawValue: 1 << 1)
    }

    /// Removes `Connection` and the fields it names, `Keep-Alive`, `Proxy-Connection`, `TE`, `Upgrade` and
    /// `Proxy-Authorization`, except those to keep; returns the names of changed fields as spelled. `usual` is
    /// removed, too, but its name is not returned. `TE` keeps `trailers`. `Transfer-Encoding` and `Trailer` stay for `SentFraming`, `Proxy-Authenticate` for clients of a
    /// further proxy. End-to-end fields always stay: a `Connection` that names `Host`, `Cookie` or `Content-Length` is
    /// an attack. Costs no allocation if nothing is removed.
    @discardableResult
    package static func strip(
        from fields: inout FieldSection,
        keeping kept: Kept = [],
        usual: FieldName? = nil
    ) -> [String] {
        var removed: [String] = []
        if let usual { fields.removeAll(usual) }
        reduceTE(in: &fields, &removed)
        if fields.contains(.connection) { stripConnection(in: &fields, kept, &removed) }
        remove(.keepAlive, from: &fields, &removed)
        remove(.proxyConnection, from: &fields, &removed)
        if !kept.contains(.upgrade) { remove(.upgrade, from: &fields, &removed) }
        remove(.proxyAuthorization, from: &fields, &removed)
        return removed
    }

    private static func remove(_ name: FieldName, from fields: inout FieldSection, _ removed: inout [String]) {
        while let index = fields.firstIndex(of: name) {
            removed.append(fields[index].name)
            fields.remove(at: index)
        }
    }

    private static func reduceTE(in fields: inout FieldSection, _ removed: inout [String]) {
        guard let index = fields.firstIndex(of: .te) else { return }
        let isSingle = fields.firstIndex(of: .te, from: index + 1) == nil
        if isSingle, fields.withValue(at: index, { $0.isOption("trailers") }) { return }
        let name = fields[index].name
        removed.append(name)
        if fields.contains(.te, token: trailers) { fields.set(name, "trailers") } else { fields.removeAll(.te) }
    }

    private static func stripConnection(in fields: inout FieldSection, _ kept: Kept, _ removed: inout [String]) {
        var nominated: [FieldName] = []
        var position = 0
        while let index = fields.firstIndex(of: .connection, from: position) {
            // The usual line, without an allocation.
            if kept.contains(.keepAlive), fields.withValue(at: index, { $0.isOption("keep-alive") }) {
                position = index + 1
                continue
            }
            let list = fields[index].value.split(separator: ",")
            let members = list.map(\.withoutOptionalWhitespace).filter { !$0.isEmpty }
            let remaining = members.filter { member in
                let name = FieldName(String(member))
                switch name {
                case .te: return fields.contains(.te)
                case .upgrade: return kept.contains(.upgrade) && fields.contains(.upgrade)
                case .keepAlive: return kept.contains(.keepAlive)
                default:
                    nominated.append(name)
                    return false
                }
            }
            if remaining.isEmpty {
                removed.append(fields[index].name)
                fields.remove(at: index)
            } else {
                if remaining.count < members.count {
                    removed.append(fields[index].name)
                    fields.setValue(remaining.joined(separator: ", "), at: index)
                }
                position = index + 1
            }
        }
        for name in nominated where !endToEnd.contains(name) { remove(name, from: &fields, &removed) }
    }

    private static let trailers: FieldName = "trailers"

    /// Fields that `Connection` cannot remove: framing, routing, credentials, descriptions of content.
    private static let endToEnd: Set<FieldName> = [
        .contentLength, .transferEncoding, .trailer, .host, .contentType, .contentEncoding, .cookie, .setCookie,
        .expect, .proxyAuthenticate, .proxyAuthorization, .wwwAuthenticate, .altSvc, .acceptEncoding,
        "authorization", "cache-control", "content-disposition", "content-language", "content-location",
        "content-range", "content-security-policy", "date", "etag", "forwarded", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "last-modified", "location", "origin", "range", "referer",
        "strict-transport-security", "vary", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
        "x-real-ip",
    ]
}

extension Substring {
    fileprivate var withoutOptionalWhitespace: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
