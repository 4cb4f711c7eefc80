/// Non-ASCII labels of host names, in the ASCII form that DNS uses (RFC 3492).
package enum Punycode {
    /// The maximum number of scalars. DNS labels have at most 63 bytes, so no valid label is longer.
    private static let limit = 253
    private static let base = 36

    /// A label in ASCII, without the `xn--`; `nil` if the label is too long.
    package static func encoded(_ label: some StringProtocol) -> String? {
        let input = label.unicodeScalars.map { Int($0.value) }
        guard input.count <= limit else { return nil }
        var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handled) = (0x80, 0, 72, basicCount)
        while handled < input.count {
            guard let smallest = input.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for scalar in input {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                var (rest, position) = (delta, base)
                while true {
                    let threshold = threshold(position, bias)
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (base - threshold)))
                    rest = (rest - threshold) / (base - threshold)
                    position += base
                }
                output.append(digit(rest))
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The Unicode form of a label that is given without its `xn--`; `nil` if the label is not valid.
    package static func decoded(_ label: some StringProtocol) -> String? {
        let bytes = Array(label.utf8)
        guard bytes.count <= limit, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let dash = bytes.lastIndex(of: UInt8(ascii: "-"))
        var scalars = bytes[..<(dash ?? 0)].map { Int($0) }
        var (next, place, bias) = (0x80, 0, 72)
        var index = dash.map { $0 > 0 ? $0 + 1 : 0 } ?? 0
        // A dash at the start is invalid: it delimits an empty basic part, and it is not a digit.
        if dash == 0 { return nil }
        while index < bytes.count {
            let (start, count) = (place, scalars.count + 1)
            var (weight, position) = (1, base)
            while true {
                guard index < bytes.count, let value = value(of: bytes[index]) else { return nil }
                index += 1
                let (step, overflows) = value.multipliedReportingOverflow(by: weight)
                guard !overflows, step <= Int(Int32.max) - place else { return nil }
                place += step
                let threshold = threshold(position, bias)
                if value < threshold { break }
                weight = weight.multipliedReportingOverflow(by: base - threshold).partialValue
                guard (1...Int(Int32.max)).contains(weight) else { return nil }
                position += base
            }
            bias = adapted(place - start, count: count, isFirst: start == 0)
            next += place / count
            place %= count
            guard next <= 0x10_FFFF else { return nil }
            scalars.insert(next, at: place)
            place += 1
        }
        var text = String.UnicodeScalarView()
        for scalar in scalars {
            guard let scalar = Unicode.Scalar(UInt32(scalar)) else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    private static func threshold(_ position: Int, _ bias: Int) -> Int { min(max(position - bias, 1), 26) }

    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30) }

    private static func value(of digit: UInt8) -> Int? {
        switch digit {
        case 0x30...0x39: Int(digit) - 0x30 + 26
        case 0x41...0x5A: Int(digit) - 0x41
        case 0x61...0x7A: Int(digit) - 0x61
        default: nil
        }
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var steps = 0
        while rest > 455 {
            rest /= 35
            steps += base
        }
        return steps + 36 * rest / (rest + 38)
    }
}
