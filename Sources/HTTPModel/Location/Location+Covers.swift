extension Location {
    /// Whether every URL that `other` matches is matched here, too; `false` if this cannot be decided cheaply.
    package func covers(_ other: Location) -> Bool {
        coversScheme(of: other)
            && Location.covers(host, other.host)
            && port.covers(other.port)
            && Location.covers(path, other.path)
            && Location.covers(query, other.query)
    }

    /// `http` includes `ws`, `https` includes `wss`.
    private func coversScheme(of other: Location) -> Bool {
        if let scheme, let literal = other.scheme?.literal, scheme.matches(Location.plainScheme(literal)) {
            return true
        }
        return Location.covers(scheme, other.scheme)
    }

    package func coversHost(of other: Location) -> Bool { Location.covers(host, other.host) }

    /// Whether no host matches both; `false` if uncertain.
    package func hasDisjointHost(from other: Location) -> Bool {
        switch (hostKey, other.hostKey) {
        case (.any, _), (_, .any): false
        case (.exact(let one), _): !Location.covers(other.host, literal: one)
        case (_, .exact(let one)): !Location.covers(host, literal: one)
        case (.suffix(let one), .suffix(let two)): !one.hasSuffix(two) && !two.hasSuffix(one)
        }
    }

    private static func covers(_ wide: Glob?, _ narrow: Glob?) -> Bool {
        guard let wide else { return true }
        return narrow.map { wide.covers($0) } ?? false
    }

    private static func covers(_ wide: Glob?, literal text: String) -> Bool { wide?.matches(text) ?? true }
}

extension Location.Port {
    fileprivate func covers(_ other: Location.Port) -> Bool {
        switch (self, other) {
        case (.any, _): true
        case (.exact(let one), .exact(let two)): one == two
        case (.glob(let glob), .exact(let number)): glob.matches(String(number))
        case (.glob(let glob), .glob(let other)): glob.covers(other)
        case (_, .any), (.exact, .glob): false
        }
    }
}

extension Glob {
    /// Whether every match of `other` matches here; `false` if uncertain. The elements of `other` are matched like
    /// text, in at most length × length steps; only a star can match a star.
    package func covers(_ other: Glob) -> Bool {
        if matchesEverything { return true }
        guard ignoresCase == other.ignoresCase else { return false }
        if let literal = other.literal { return matches(literal) }
        var position = 0
        var element = 0
        var star: (element: Int, position: Int)?
        while position < other.elements.count || element < elements.count {
            if element < elements.count {
                if elements[element] == .many {
                    star = (element, position)
                    element += 1
                    continue
                }
                if position < other.elements.count, elements[element].covers(other.elements[position]) {
                    position += 1
                    element += 1
                    continue
                }
            }
            guard let last = star, last.position < other.elements.count else { return false }
            star = (last.element, last.position + 1)
            position = last.position + 1
            element = last.element + 1
        }
        return true
    }
}

extension Glob.Element {
    /// A multi-byte character is covered only by itself.
    fileprivate func covers(_ other: Glob.Element) -> Bool {
        switch (self, other) {
        case (.byte(let one), .byte(let two)): one == two
        case (.one, .one), (.one, .set): true
        case (.one, .byte(let byte)): byte < 0x80
        case (.set(let set), .byte(let byte)): byte < 0x80 && set.contains(byte)
        case (.set(let one), .set(let two)):
            (one.isNegated || !two.isNegated) && (UInt8(0)..<0x80).allSatisfy { !two.contains($0) || one.contains($0) }
        case (.many, _), (_, .many), (.byte, _), (.set, .one): false
        }
    }
}
