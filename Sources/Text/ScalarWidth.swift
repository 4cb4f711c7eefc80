extension Unicode.Scalar {
    /// How many columns terminals give a scalar that stands alone: 0, 1 or 2.
    static func columns(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        if value < 0x1100 { return scalar.isZeroWidth ? 0 : 1 }
        // Lines, blocks and shapes fill the screens; of these only two are wide.
        if (0x2500..<0x2600).contains(value) { return value == 0x25FD || value == 0x25FE ? 2 : 1 }
        if scalar.isZeroWidth { return 0 }
        return scalar.isWide ? 2 : 1
    }

    var isRegionalIndicator: Bool { (0x1_F1E6...0x1_F1FF).contains(value) }
    /// Line separators, which show nothing.
    var isSeparator: Bool { value == 0x2028 || value == 0x2029 }

    /// Whether it has a width although it joins the letter before it.
    var isLetterOfItsOwn: Bool {
        properties.generalCategory == .otherLetter && Unicode.Scalar.columns(self) > 0
    }

    /// Marks, format characters, and the vowels and finals of Hangul jamo, which join the consonant before them.
    private var isZeroWidth: Bool {
        switch value {
        case 0x1160...0x11FF, 0xD7B0...0xD7FF, 0x2028, 0x2029: return true
        case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x1_10BD, 0x1_10CD: return false
        default: break
        }
        return switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    private var isWide: Bool {
        var low = 0
        var high = Unicode.Scalar.wide.count
        while low < high {
            let middle = (low + high) / 2
            let range = Unicode.Scalar.wide[middle]
            if value < range.lowerBound {
                high = middle
            } else if value > range.upperBound {
                low = middle + 1
            } else {
                return true
            }
        }
        return false
    }

    /// What takes two columns: East Asian width W and F, which holds every emoji that is one by itself. Made from the
    /// Unicode data; ranges between which nothing is assigned are joined.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
        0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9,
        0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1_6FE0...0x1_8D08, 0x1_AFF0...0x1_B2FB,
        0x1_F004...0x1_F004, 0x1_F0CF...0x1_F0CF, 0x1_F18E...0x1_F18E, 0x1_F191...0x1_F19A, 0x1_F200...0x1_F320,
        0x1_F32D...0x1_F335, 0x1_F337...0x1_F37C, 0x1_F37E...0x1_F393, 0x1_F3A0...0x1_F3CA, 0x1_F3CF...0x1_F3D3,
        0x1_F3E0...0x1_F3F0, 0x1_F3F4...0x1_F3F4, 0x1_F3F8...0x1_F43E, 0x1_F440...0x1_F440, 0x1_F442...0x1_F4FC,
        0x1_F4FF...0x1_F53D, 0x1_F54B...0x1_F54E, 0x1_F550...0x1_F567, 0x1_F57A...0x1_F57A, 0x1_F595...0x1_F596,
        0x1_F5A4...0x1_F5A4, 0x1_F5FB...0x1_F64F, 0x1_F680...0x1_F6C5, 0x1_F6CC...0x1_F6CC, 0x1_F6D0...0x1_F6D2,
        0x1_F6D5...0x1_F6DF, 0x1_F6EB...0x1_F6EC, 0x1_F6F4...0x1_F6FC, 0x1_F7E0...0x1_F7F0, 0x1_F90C...0x1_F93A,
        0x1_F93C...0x1_F945, 0x1_F947...0x1_F9FF, 0x1_FA70...0x1_FAFF, 0x2_0000...0x3_FFFD,
    ]
}
