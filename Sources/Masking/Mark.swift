struct Mark {
    var range: Range<Int>
    var placeholder: Placeholder
    var isNumber = false

    /// Sorts and joins overlapping marks; the first one keeps its placeholder.
    static func merged(_ marks: [Mark]) -> [Mark] {
        guard marks.count > 1 else { return marks }
        let sorted = marks.enumerated().sorted {
            ($0.element.range.lowerBound, -$0.element.range.upperBound, $0.offset)
                < ($1.element.range.lowerBound, -$1.element.range.upperBound, $1.offset)
        }
        .map(\.element)
        var merged = [sorted[0]]
        for mark in sorted.dropFirst() {
            let last = merged[merged.count - 1].range
            if mark.range.lowerBound >= last.upperBound {
                merged.append(mark)
            } else if mark.range.upperBound > last.upperBound {
                merged[merged.count - 1].range = last.lowerBound..<mark.range.upperBound
            }
        }
        return merged
    }

    /// Puts the placeholders in, each as long as its secret if `keepsLength`. For commands they are marked and say the
    /// form of the secret, unless `isPlain`.
    static func replaced(
        _ marks: some Collection<Mark>,
        in bytes: Slice<UnsafeRawBufferPointer>,
        keepsLength: Bool,
        isPlain: Bool = false,
        _ book: SecretBook
    ) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var place = bytes.startIndex
        for mark in marks {
            output += bytes[place..<mark.range.lowerBound]
            if book.isForCommands, !isPlain {
                let form = UnsafeRawBufferPointer(rebasing: bytes[mark.range])
                let placeholder = book.placeholder(mark.placeholder, for: form)
                output += placeholder.markedText(host: book.host(of: placeholder)).utf8
            } else if mark.isNumber {
                output += mark.placeholder.digits(fitting: keepsLength ? mark.range.count : nil)
            } else {
                output += mark.placeholder.bytes(fitting: keepsLength ? mark.range.count : nil)
            }
            place = mark.range.upperBound
        }
        return output + bytes[place...]
    }
}
