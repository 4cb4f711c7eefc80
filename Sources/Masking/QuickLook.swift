/// What bytes can hold at all, by one look at each: most values of fields can hold nothing, and are done with it.
struct QuickLook {
    /// Whether there is a sign that can stand between a name and a value, or between a scheme and credentials, or end a tag, or begin
    /// a list.
    private(set) var hasSeparator = false
    /// Whether there is a run as long as the shortest one that is looked at.
    private(set) var hasRun = false
    /// Whether a private key can begin there.
    private(set) var mayHaveKey = false

    /// For each byte: 1 for one of a run, 2 for a separator, 4 for the beginning of a private key, 8 for a space, 16 for the end
    /// of a scheme.
    private static let kinds: [UInt8] = (0...255).map { number in
        let byte = UInt8(number)
        return (RunScanner.isOfRun[number] ? 1 : 0) | (":=>%&[".utf8.contains(byte) ? 2 : 0)
            | (byte == UInt8(ascii: "P") ? 4 : 0) | (byte == 0x20 ? 8 : 0) | ("rRcCnN".utf8.contains(byte) ? 16 : 0)
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        QuickLook.kinds.withUnsafeBufferPointer { kinds in
            var (all, length, longest): (UInt8, Int, Int) = (0, 0, 0)
            var previous: UInt8 = 0
            for byte in bytes {
                let kind = kinds[Int(byte)]
                // A space behind the end of a scheme is a separator.
                all |= kind | (kind & previous >> 1 & 8) >> 2
                previous = kind
                length = kind & 1 == 0 ? 0 : length + 1
                if length > longest { longest = length }
            }
            hasSeparator = all & 2 != 0
            hasRun = longest >= RunScanner.least
            mayHaveKey = all & 4 != 0
        }
    }
}
