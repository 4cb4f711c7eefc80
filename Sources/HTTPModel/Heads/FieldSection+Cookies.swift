/// HTTP/2 may split cookies over several lines, called crumbs, for better compression.
extension FieldSection {
    package var hasCookieCrumbs: Bool {
        guard let first = firstIndex(of: .cookie) else { return false }
        return firstIndex(of: .cookie, from: first + 1) != nil
    }

    /// RFC 9113 §8.2.3.
    package mutating func joinCookies() {
        guard hasCookieCrumbs, let first = firstIndex(of: .cookie) else { return }
        setValue(joinedCookies, at: first)
        while let next = firstIndex(of: .cookie, from: first + 1) { remove(at: next) }
    }

    /// Restores the crumbs of the received section if the joined line is unchanged.
    package mutating func splitCookies(as received: FieldSection) {
        guard !hasCookieCrumbs, let position = firstIndex(of: .cookie),
            self[position].valueBytes.elementsEqual(received.joinedCookies)
        else { return }
        var crumbs: [Entry] = []
        var start = 0
        while let index = received.firstIndex(of: .cookie, from: start) {
            var entry = entries[position]
            entry.value = store(received[index].valueBytes)
            entry.line.count = 0
            crumbs.append(entry)
            start = index + 1
        }
        entries.replaceSubrange(position...position, with: crumbs)
        revision &+= 1
    }

    private var joinedCookies: [UInt8] {
        var joined: [UInt8] = []
        var start = 0
        while let index = firstIndex(of: .cookie, from: start) {
            if start > 0 { joined += "; ".utf8 }
            joined += self[index].valueBytes
            start = index + 1
        }
        return joined
    }
}
