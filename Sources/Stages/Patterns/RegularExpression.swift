import CPCRE2

/// A compiled Perl-style regular expression (PCRE2, with JIT where the machine has it).
///
/// Matching is limited in steps, depth and memory, so that no pattern can hang an event loop.
final class RegularExpression: Sendable {
    /// Why a pattern is none.
    struct SyntaxError: Error {
        /// Where, in bytes from 0.
        let offset: Int
        /// What is wrong, without a full stop.
        let message: String
    }

    /// Matching was given up: it took more than the limits allow.
    struct Runaway: Error {}

    /// The `pcre2_code`, as a number.
    ///
    /// SAFETY: after compilation PCRE2 only reads it, and documents that threads may share it; what a match writes is
    /// made for each call. It is freed once, in `deinit`.
    private let code: UInt
    /// How many groups there are.
    let groupCount: Int

    private static let stepLimit: UInt32 = 200_000
    private static let depthLimit: UInt32 = 2_000
    private static let memoryLimit: UInt32 = 4_096  // KiB

    /// Compiles a pattern.
    init(_ pattern: String, isCaseSensitive: Bool) throws(SyntaxError) {
        var options = UInt32(PCRE2_UTF) | UInt32(PCRE2_NEVER_BACKSLASH_C)
        if !isCaseSensitive { options |= UInt32(PCRE2_CASELESS) }
        var number: Int32 = 0
        var offset = 0
        let bytes = Array(pattern.utf8)
        guard let compiled = pcre2_compile_8(bytes, bytes.count, options, &number, &offset, nil) else {
            throw SyntaxError(offset: offset, message: RegularExpression.message(number))
        }
        // Without JIT the interpreter does the same, slower.
        _ = pcre2_jit_compile_8(compiled, UInt32(PCRE2_JIT_COMPLETE))
        var groups: UInt32 = 0
        _ = pcre2_pattern_info_8(compiled, UInt32(PCRE2_INFO_CAPTURECOUNT), &groups)
        code = UInt(bitPattern: compiled)
        groupCount = Int(groups)
    }

    deinit {
        pcre2_code_free_8(OpaquePointer(bitPattern: code))
    }

    private static func message(_ number: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let count = pcre2_get_error_message_8(number, &text, text.count)
        return count > 0 ? String(decoding: text[..<Int(count)], as: UTF8.self) : "no valid regular expression"
    }

    /// Calls `body` with each match in order, as byte ranges: the whole, then each group.
    ///
    /// A group is `nil` where it took no part. Going on ends when `body` returns `false`.
    ///
    /// - Throws: ``Runaway`` where the limits were passed.
    func forEachMatch(in subject: [UInt8], _ body: ([Range<Int>?]) -> Bool) throws(Runaway) {
        let compiled = OpaquePointer(bitPattern: code)
        guard let data = pcre2_match_data_create_from_pattern_8(compiled, nil),
            let limits = pcre2_match_context_create_8(nil)
        else { throw Runaway() }
        defer {
            pcre2_match_data_free_8(data)
            pcre2_match_context_free_8(limits)
        }
        pcre2_set_match_limit_8(limits, RegularExpression.stepLimit)
        pcre2_set_depth_limit_8(limits, RegularExpression.depthLimit)
        pcre2_set_heap_limit_8(limits, RegularExpression.memoryLimit)
        var start = 0
        var options: UInt32 = 0
        while start <= subject.count {
            let count = pcre2_match_8(compiled, subject, subject.count, start, options, data, limits)
            if count == PCRE2_ERROR_NOMATCH {
                if options == 0 { return }
                // After an empty match: a longer one was not found at the same place, so one character further.
                options = 0
                start += 1
                while start < subject.count, subject[start] & 0xC0 == 0x80 { start += 1 }
                continue
            }
            guard count > 0 else { throw Runaway() }
            let ranges = ranges(data, Int(count))
            guard let whole = ranges[0] else { throw Runaway() }
            guard body(ranges) else { return }
            options = whole.isEmpty ? UInt32(PCRE2_NOTEMPTY_ATSTART) | UInt32(PCRE2_ANCHORED) : 0
            start = max(start, whole.upperBound)
        }
    }

    private func ranges(_ data: OpaquePointer, _ count: Int) -> [Range<Int>?] {
        guard let offsets = pcre2_get_ovector_pointer_8(data) else { return [nil] }
        return (0...groupCount).map { group in
            let (from, to) = (offsets[2 * group], offsets[2 * group + 1])
            // \K in a lookahead can put the end before the start.
            return group < count && from != Int.max && from >= 0 && from <= to ? from..<to : nil
        }
    }
}
