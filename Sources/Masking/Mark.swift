struct Mark {
    var range: Range<Int>
    var placeholder: Placeholder
    var isNumber = false

    func moved(by distance: Int) -> Mark {
        Mark(range: range.moved(by: distance), placeholder: placeholder, isNumber: isNumber)
    }

    /// Sorts the marks and joins overlapping ones; the first placeholder is kept.
    static func merged(_ marks: [Mark]) -> [Mark] {
        guard marks.count > 1 else { return marks }
        let sorted = marks.sorted {
            ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
        }
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

    /// Puts the placeholders in, each as long as its secret if `keepsLength`. In commands they are marked and numbered by
    /// the form of the secret, unless `isPlain`.
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
            } else {
                let length = keepsLength ? mark.range.count : nil
                let placeholder = mark.placeholder
                output += mark.isNumber ? placeholder.digits(fitting: length) : placeholder.bytes(fitting: length)
            }
            place = mark.range.upperBound
        }
        return output + bytes[place...]
    }
}
