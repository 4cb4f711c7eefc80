import CNcurses
import Synchronization

/// An entry of the terminfo database. ncurses keeps it in a global, so it is read whole, under a lock.
package struct Terminfo: Sendable {
    package let colors: Int
    package let hasMouse: Bool
    /// Whether the ANSI sequence positions the cursor.
    let isANSI: Bool
    let alternateScreen: Pair
    /// Turns the keypad's and the arrow keys' own sequences on and off.
    let keypad: Pair
    let showCursor: [UInt8]

    struct Pair: Sendable {
        let on: [UInt8]
        let off: [UInt8]
    }

    private static let lock = Mutex(())
}

extension Terminfo {
    package init?(name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }),
            let entry = Terminfo.lock.withLock({ _ in Terminfo.read(name) })
        else { return nil }
        self = entry
    }

    private static func read(_ name: String) -> Terminfo? {
        guard sluice_terminfo_load(name) == 0 else { return nil }
        let place = sluice_terminfo_string("cup").flatMap { sluice_terminfo_fill($0, 4, 2) }.map { String(cString: $0) }
        return Terminfo(
            colors: Int(sluice_terminfo_number("colors")),
            hasMouse: sluice_terminfo_string("kmous") != nil,
            isANSI: place.map { undelayed($0) == Array("\u{1B}[5;3H".utf8) } ?? false,
            alternateScreen: pair("smcup", "rmcup"),
            keypad: pair("smkx", "rmkx"),
            showCursor: string("cnorm")
        )
    }

    private static func pair(_ on: String, _ off: String) -> Pair { Pair(on: string(on), off: string(off)) }

    private static func string(_ name: String) -> [UInt8] {
        sluice_terminfo_string(name).map { undelayed(String(cString: $0)) } ?? []
    }

    /// The bytes without delays such as `$<5>`, which no current terminal needs.
    private static func undelayed(_ string: String) -> [UInt8] {
        var rest = string[...]
        var bytes: [UInt8] = []
        while let start = rest.firstRange(of: "$<"), let end = rest[start.upperBound...].firstIndex(of: ">") {
            bytes += rest[..<start.lowerBound].utf8
            rest = rest[rest.index(after: end)...]
        }
        return bytes + rest.utf8
    }
}
