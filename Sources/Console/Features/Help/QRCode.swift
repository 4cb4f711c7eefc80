/// A QR code for a short text: byte mode, error correction level L, versions 1 to 5 (ISO/IEC 18004).
struct QRCode: Sendable, Hashable {
    let side: Int
    /// Whether each module is dark, row by row.
    private(set) var modules: [Bool]
    /// The modules of the fixed patterns, which hold no data.
    private var isFixed: [Bool]

    /// Uses one of the eight masks, by default the most legible one; `nil` for more than 106 bytes of UTF-8.
    init?(_ text: String, mask wanted: Int? = nil) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion.fitting(bytes.count) else { return nil }
        side = version.side
        modules = Array(repeating: false, count: side * side)
        isFixed = modules
        drawPatterns(version)
        place(version.codewords(for: bytes))
        let plain = modules
        var best: (penalty: Int, modules: [Bool])?
        for mask in wanted.map({ [$0 & 7] }) ?? Array(0..<8) {
            modules = plain
            apply(mask: mask)
            drawFormat(mask: mask)
            let penalty = QRPenalty.of(self)
            if best.map({ penalty < $0.penalty }) ?? true { best = (penalty, modules) }
        }
        if let best { modules = best.modules }
    }

    subscript(x: Int, y: Int) -> Bool { x >= 0 && y >= 0 && x < side && y < side && modules[y * side + x] }

    private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard x >= 0, y >= 0, x < side, y < side else { return }
        modules[y * side + x] = isDark
        isFixed[y * side + x] = true
    }

    private mutating func drawPatterns(_ version: QRVersion) {
        for index in 0..<side {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
        for (x, y) in [(3, 3), (side - 4, 3), (3, side - 4)] { drawSquare(x, y, radius: 4, light: [2, 4]) }
        if version.number > 1 { drawSquare(side - 7, side - 7, radius: 2, light: [1]) }
        drawFormat(mask: 0)
    }

    /// Draws rings around a module; the rings with a radius in `light` are light.
    private mutating func drawSquare(_ x: Int, _ y: Int, radius: Int, light: Set<Int>) {
        for dy in -radius...radius {
            for dx in -radius...radius { set(x + dx, y + dy, !light.contains(max(abs(dx), abs(dy)))) }
        }
    }

    /// Draws the error correction level and the mask with their BCH code, twice, and the module that is always dark.
    private mutating func drawFormat(mask: Int) {
        let number = 1 << 3 | mask
        let check = (0..<10).reduce(number) { rest, _ in rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (number << 10 | check) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0..<6 { set(8, index, bit(index)) }
        set(8, 7, bit(6))
        set(8, 8, bit(7))
        set(7, 8, bit(8))
        for index in 9..<15 { set(14 - index, 8, bit(index)) }
        for index in 0..<8 { set(side - 1 - index, 8, bit(index)) }
        for index in 8..<15 { set(8, side - 15 + index, bit(index)) }
        set(8, side - 8, true)
    }

    /// Fills the free modules with the codewords' bits: pairs of columns from the right, upwards and downwards in turn.
    private mutating func place(_ codewords: [UInt8]) {
        var index = 0
        var right = side - 1
        while right >= 1 {
            if right == 6 { right = 5 }
            let isUpward = (right + 1) & 2 == 0
            for step in 0..<side {
                let y = isUpward ? side - 1 - step : step
                for x in [right, right - 1] where !isFixed[y * side + x] && index < codewords.count * 8 {
                    modules[y * side + x] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            right -= 2
        }
    }

    private mutating func apply(mask: Int) {
        for y in 0..<side {
            for x in 0..<side where !isFixed[y * side + x] {
                let isTurned =
                    switch mask {
                    case 0: (x + y) % 2 == 0
                    case 1: y % 2 == 0
                    case 2: x % 3 == 0
                    case 3: (x + y) % 3 == 0
                    case 4: (x / 3 + y / 2) % 2 == 0
                    case 5: x * y % 2 + x * y % 3 == 0
                    case 6: (x * y % 2 + x * y % 3) % 2 == 0
                    default: ((x + y) % 2 + x * y % 3) % 2 == 0
                    }
                if isTurned { modules[y * side + x].toggle() }
            }
        }
    }
}

/// The penalty of a code by the standard's four rules, for being hard to read. The mask with the lowest penalty wins.
enum QRPenalty {
    static func of(_ code: QRCode) -> Int {
        var total = 0
        for line in 0..<code.side {
            total += runs((0..<code.side).map { code[$0, line] }) + runs((0..<code.side).map { code[line, $0] })
        }
        for y in 0..<code.side - 1 {
            for x in 0..<code.side - 1 {
                let isDark = code[x, y]
                if code[x + 1, y] == isDark, code[x, y + 1] == isDark, code[x + 1, y + 1] == isDark { total += 3 }
            }
        }
        let (dark, whole) = (code.modules.count { $0 }, code.modules.count)
        return total + abs(dark * 20 - whole * 10) / whole * 10
    }

    /// The penalty for five or more equal modules in a row, and for a pattern that looks like a finder.
    private static func runs(_ line: [Bool]) -> Int {
        var total = 0
        var length = 0
        for index in line.indices {
            length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
            if length == 5 { total += 3 } else if length > 5 { total += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        for start in 0..<max(0, line.count - 6) where Array(line[start..<start + 7]) == finder {
            let before = line[max(0, start - 4)..<start]
            let after = line[(start + 7)..<min(line.count, start + 11)]
            if !before.contains(true) { total += 40 }
            if !after.contains(true) { total += 40 }
        }
        return total
    }
}

/// The capacity of a QR code version at level L. Larger versions, which have several blocks, are not needed.
struct QRVersion: Sendable, Hashable {
    /// 1 to 5.
    let number: Int

    var side: Int { number * 4 + 17 }

    private static let data = [19, 34, 55, 80, 108]
    private static let correction = [7, 10, 15, 20, 26]

    static func fitting(_ bytes: Int) -> QRVersion? {
        data.firstIndex { bytes + 2 <= $0 }.map { QRVersion(number: $0 + 1) }
    }

    /// The bytes with their error correction.
    func codewords(for bytes: [UInt8]) -> [UInt8] {
        let room = QRVersion.data[number - 1]
        var bits: [Bool] = []
        func add(_ value: Int, _ count: Int) {
            for index in (0..<count).reversed() { bits.append(value >> index & 1 == 1) }
        }
        add(0b0100, 4)
        add(bytes.count, 8)
        for byte in bytes { add(Int(byte), 8) }
        add(0, min(4, room * 8 - bits.count))
        add(0, (8 - bits.count % 8) % 8)
        var words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var padding: UInt8 = 0xEC
        while words.count < room {
            words.append(padding)
            padding ^= 0xEC ^ 0x11
        }
        let divisor = ReedSolomon.divisor(degree: QRVersion.correction[number - 1])
        return words + ReedSolomon.remainder(words, by: divisor)
    }
}

/// Error correction over the field of 256 elements with the polynomial 0x11D.
enum ReedSolomon {
    /// The generator's coefficients without the leading one, highest first.
    static func divisor(degree: Int) -> [UInt8] {
        var result = Array(repeating: UInt8(0), count: degree)
        result[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in result.indices {
                result[index] = multiplied(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = multiplied(root, 2)
        }
        return result
    }

    /// The remainder of the data after division: the error correction codewords.
    static func remainder(_ data: [UInt8], by divisor: [UInt8]) -> [UInt8] {
        var result = Array(repeating: UInt8(0), count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in result.indices { result[index] ^= multiplied(divisor[index], factor) }
        }
        return result
    }

    private static func multiplied(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product = 0
        for index in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7) * 0x11D
            product ^= Int(right >> index & 1) * Int(left)
        }
        return UInt8(truncatingIfNeeded: product)
    }
}
