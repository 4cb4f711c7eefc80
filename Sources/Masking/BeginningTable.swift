/// The lengths of the secrets that begin with the same eight bytes, in one flat array of eight bytes a place: most
/// beginnings have one length.
///
/// Two beginnings may be taken for one, which then has the lengths of both.
struct BeginningTable: Sendable {
    enum Lengths {
        case one(Int)
        /// The longest first.
        case several([Several])
    }

    /// One of several lengths, and the marks of how the secrets end that have it.
    struct Several: Sendable, Hashable {
        let length: Int
        fileprivate(set) var endings: UInt64

        /// Whether a secret of this length may end in these eight bytes.
        func mayEnd(in ending: UInt64) -> Bool { endings & BeginningTable.mark(ofEnding: ending) != 0 }
    }

    /// Unknown to who chooses the bytes, who could else make many beginnings fall on the same place.
    private static let multiplier = UInt64.random(in: .min ... .max) | 1
    /// The bits of a place that are its mark.
    private static let marks: UInt64 = 0xFFFF_FFFF_0000_0000
    private static let isSeveral: UInt32 = 1 << 31

    private let multiplier = BeginningTable.multiplier
    /// A mark of the beginning, and below it its length or where its lengths are; 0 where a place is free.
    private var places: [UInt64] = []
    private var several: [[Several]] = []
    private var count = 0
    /// So many of the first bits of a mark say its place.
    private var bits: UInt64 = 3

    subscript(beginning: UInt64) -> Lengths? {
        guard count > 0 else { return nil }
        let value = UInt32(truncatingIfNeeded: places[place(of: mark(of: beginning))])
        guard value != 0 else { return nil }
        guard value & BeginningTable.isSeveral != 0 else { return .one(Int(value)) }
        return .several(several[Int(value & ~BeginningTable.isSeveral)])
    }

    /// Adds the length of a secret with this beginning, which ends in these eight bytes.
    mutating func add(_ length: Int, to beginning: UInt64, ending: UInt64) {
        if 4 * (count + 1) > 3 * places.count { grow() }
        let mark = mark(of: beginning)
        let place = place(of: mark)
        let value = UInt32(truncatingIfNeeded: places[place])
        guard value != 0 else {
            places[place] = mark | UInt64(length)
            count += 1
            return
        }
        let own = Several(length: length, endings: BeginningTable.mark(ofEnding: ending))
        guard value & BeginningTable.isSeveral != 0 else {
            guard value != length else { return }
            places[place] = mark | UInt64(UInt32(several.count) | BeginningTable.isSeveral)
            // How the first ones end was not kept.
            let first = Several(length: Int(value), endings: .max)
            return several.append(first.length > length ? [first, own] : [own, first])
        }
        let index = Int(value & ~BeginningTable.isSeveral)
        let at = several[index].firstIndex { $0.length <= length } ?? several[index].endIndex
        if at < several[index].endIndex, several[index][at].length == length {
            several[index][at].endings |= own.endings
        } else {
            several[index].insert(own, at: at)
        }
    }

    fileprivate static func mark(ofEnding ending: UInt64) -> UInt64 { 1 << ((ending &* multiplier) >> 58) }

    private func mark(of beginning: UInt64) -> UInt64 { (beginning &* multiplier) & BeginningTable.marks }

    /// Where a mark is, or where there is room for it.
    private func place(of mark: UInt64) -> Int {
        let last = places.count - 1
        var place = Int(truncatingIfNeeded: mark >> (64 - bits))
        while places[place] != 0, places[place] & BeginningTable.marks != mark { place = (place + 1) & last }
        return place
    }

    private mutating func grow() {
        let old = places
        bits += 1
        places = Array(repeating: 0, count: 1 << Int(bits))
        for entry in old where entry != 0 { places[place(of: entry & BeginningTable.marks)] = entry }
    }
}
