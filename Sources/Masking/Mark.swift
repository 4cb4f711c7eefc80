/// A place in bytes and what stands there instead.
struct Mark {
    var range: Range<Int>
    var placeholder: Placeholder

    /// Whether it stands for a number of JSON.
    var isNumber = false

    init(_ range: Range<Int>, _ placeholder: Placeholder, isNumber: Bool = false) {
        (self.range, self.placeholder, self.isNumber) = (range, placeholder, isNumber)
    }

    /// In order, without those that are inside others; where two overlap, the first has both.
    static func merged(_ marks: [Mark]) -> [Mark] {
        guard marks.count > 1 else { return marks }
        let sorted = marks.sorted {
            ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound)
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

    /// The bytes with the placeholders in them; each as long as what it stands for where `keepsLength`.
    ///
    /// In commands and programs a placeholder is marked and says the form of its secret, and nothing keeps its length.
    static func replaced(
        _ marks: some Collection<Mark>,
        in bytes: Slice<UnsafeRawBufferPointer>,
        keepsLength: Bool,
        _ book: SecretBook
    ) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var place = bytes.startIndex
        for mark in marks {
            output += bytes[place..<mark.range.lowerBound]
            if book.isForPrograms {
                let form = UnsafeRawBufferPointer(rebasing: bytes[mark.range])
                output += book.placeholder(mark.placeholder, for: form).markedText.utf8
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

extension TextMask {
    /// A text with its secrets replaced, and whether there were any.
    func masked(_ text: String, _ syntax: ScanSyntax?) -> String? {
        var copy = text
        return copy.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let marks = marks(in: bytes, syntax)
            return marks.isEmpty
                ? nil : String(decoding: Mark.replaced(marks, in: bytes[...], keepsLength: false, book), as: UTF8.self)
        }
    }
}
