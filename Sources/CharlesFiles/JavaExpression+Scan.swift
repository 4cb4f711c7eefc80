extension JavaExpression {
    /// Scans a Java pattern: rewrites syntax that PCRE2 writes differently, and notes what PCRE2 reads differently.
    struct Scan {
        private let source: [Unicode.Scalar]
        private var position = 0
        private(set) var result: [Unicode.Scalar] = []
        private(set) var notes: [String] = []
        private(set) var refusal: String?
        /// The names of the groups; number 0 is the whole match.
        private(set) var groups: [String?] = [nil]
        /// Whether a flag makes `#` begin a comment.
        private var hasComments = false

        init(_ source: [Unicode.Scalar]) { self.source = source }

        mutating func run() {
            while position < source.count, refusal == nil {
                switch source[position] {
                case "\\": escape()
                case "[": set()
                case "(": group()
                case "#" where hasComments: take(source[position...].prefix { $0 != "\n" }.count)
                default: take()
                }
            }
        }

        private mutating func take(_ count: Int = 1) {
            let end = min(position + count, source.count)
            result += source[position..<end]
            position = end
        }

        private func at(_ offset: Int) -> Unicode.Scalar? {
            position + offset < source.count ? source[position + offset] : nil
        }

        private mutating func note(_ note: String) { if !notes.contains(note) { notes.append(note) } }

        private mutating func escape() {
            switch at(1) {
            case "Q": quotation()
            case "u": unicode()
            case "0": octal()
            case "b" where at(2) == "{", "N" where at(2) == "{":
                refusal = "the regular expression has \\\(at(1).map(String.init) ?? ""){…}, which PCRE2 does not have"
            case "G":
                note("\\G is the start of the search here, and of the value in Java")
                take(2)
            default: take(2)
            }
        }

        /// `\Q…\E`, which PCRE2 has, too.
        private mutating func quotation() {
            repeat { take() } while position < source.count && !(at(0) == "\\" && at(1) == "E")
            take(2)
        }

        /// A code unit in four digits, or a surrogate pair.
        private mutating func unicode() {
            guard let unit = hexadecimal(from: position + 2, count: 4) else {
                refusal = "the regular expression has \\u without four hexadecimal digits"
                return
            }
            position += 6
            var value = unit
            if (0xD800..<0xDC00).contains(unit), at(0) == "\\", at(1) == "u",
                let low = hexadecimal(from: position + 2, count: 4), (0xDC00..<0xE000).contains(low)
            {
                value = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
                position += 6
            }
            guard Unicode.Scalar(value) != nil else {
                refusal = "the regular expression has half a surrogate pair"
                return
            }
            append(value)
        }

        /// `\0` and up to three octal digits.
        private mutating func octal() {
            position += 2
            var value: UInt32 = 0
            var count = 0
            while count < 3, let digit = at(0), ("0"..."7").contains(digit), value * 8 + digit.value - 0x30 < 256 {
                value = value * 8 + digit.value - 0x30
                position += 1
                count += 1
            }
            if count == 0 { refusal = "the regular expression has \\0 without octal digits" }
            append(value)
        }

        private mutating func append(_ value: UInt32) {
            result += "\\x{\(String(value, radix: 16))}".unicodeScalars
        }

        private func hexadecimal(from start: Int, count: Int) -> UInt32? {
            guard start + count <= source.count else { return nil }
            let digits = source[start..<(start + count)]
            guard digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
            return UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
        }

        /// In Java a set may contain sets, and `&&` for an intersection; in PCRE2 these are plain characters.
        private mutating func set() {
            take()
            if at(0) == "^" { take() }
            var isFirst = true
            while let scalar = at(0), refusal == nil {
                if scalar == "\\" {
                    escape()
                } else if scalar == "[" || scalar == "&" && at(1) == "&" {
                    refusal = "the regular expression has sets within a set, or &&, which PCRE2 does not have"
                } else {
                    take()
                    // A bracket that comes first is a character in both dialects.
                    if scalar == "]", !isFirst { return }
                }
                isFirst = false
            }
        }

        private mutating func group() {
            guard at(1) == "?" else {
                // PCRE2's verbs, as in (*FAIL), are an error in Java.
                if at(1) == "*" { refusal = "the regular expression has '(*', which Java does not take either" }
                groups.append(nil)
                take()
                return
            }
            if at(2) == "<", let next = at(3), next != "=", next != "!" {
                let name = source[(position + 3)...].prefix { $0 != ">" }
                groups.append(String(String.UnicodeScalarView(name)))
                take(3 + name.count)
                return
            }
            flags()
        }

        /// Flags, as in `(?iu)` or `(?x-s:`: letters that PCRE2 does not have or reads differently are left out.
        private mutating func flags() {
            let letters = source[(position + 2)...].prefix {
                ("a"..."z").contains($0) || ("A"..."Z").contains($0) || $0 == "-"
            }
            guard !letters.isEmpty, let end = at(2 + letters.count), end == ")" || end == ":" else {
                take(2)
                return
            }
            let kept = letters.filter { !"udU".unicodeScalars.contains($0) }
            if letters.contains("U") { note("the flag U, for Unicode's character classes, is left out") }
            if letters.contains("d") { note("the flag d, for Unix lines, is left out") }
            if letters.prefix(while: { $0 != "-" }).contains("x") {
                hasComments = true
                note("in sets, blanks count even under the flag x")
            }
            position += 2 + letters.count
            if kept.isEmpty || kept == ["-"] {
                if end == ")" { position += 1 } else { result += "(?".unicodeScalars }
            } else {
                result += "(?".unicodeScalars
                result += kept
            }
        }
    }
}
