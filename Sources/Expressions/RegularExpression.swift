import CPCRE2
import Synchronization

/// A Perl-style regular expression (PCRE2, with JIT if available). Work and memory of a match are limited, so that no
/// pattern can hang an event loop; counting work instead of time makes the result independent of the load.
package final class RegularExpression: Sendable {
    package static var libraryVersion: String {
        var text = [UInt8](repeating: 0, count: 64)
        let count = pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &text)
        // The count includes the zero at the end.
        return count > 1 ? String(decoding: text.prefix(Int(count) - 1), as: UTF8.self) : "not known"
    }

    package struct SyntaxError: Error {
        /// In bytes.
        package let offset: Int
        /// Without a full stop.
        package let message: String

        package init(offset: Int, message: String) { (self.offset, self.message) = (offset, message) }
    }

    /// Matching exceeded the limits.
    package struct MatchLimitError: Error {}

    /// SAFETY: PCRE2 only reads compiled code, so that threads may share it; matches write to memory of their own. It
    /// is freed once, in `deinit`.
    nonisolated(unsafe) private let code: OpaquePointer  // SAFETY: see above
    private let isWhole: Bool
    package let groupCount: Int

    /// In bytes; longer patterns take long to compile.
    private static let longestPattern = 16 << 10
    /// The stack of one match, in bytes; most matches need no more than PCRE2's own 32 KiB.
    private static let largestStack = 16 << 20
    /// For machines without JIT, in KiB.
    private static let memoryLimit: UInt32 = 64 << 10

    /// Compiles a pattern, which is plain text if `isLiteral`. With `takesAnyBytes` a subject may contain invalid
    /// UTF-8, which never matches.
    package init(
        _ pattern: String,
        isCaseSensitive: Bool,
        isWhole: Bool = false,
        isLiteral: Bool = false,
        takesAnyBytes: Bool = false
    ) throws(SyntaxError) {
        let bytes = Array(pattern.utf8)
        guard bytes.count <= RegularExpression.longestPattern else {
            let limit = RegularExpression.longestPattern
            throw SyntaxError(offset: limit, message: "the pattern is longer than \(limit) bytes")
        }
        var options = UInt32(PCRE2_UTF)
        if !isCaseSensitive { options |= UInt32(PCRE2_CASELESS) }
        if takesAnyBytes { options |= UInt32(PCRE2_MATCH_INVALID_UTF) }
        if isWhole { options |= UInt32(PCRE2_ANCHORED) | UInt32(PCRE2_ENDANCHORED) }
        // Callouts count the work; a literal search needs no limit.
        options |= isLiteral ? UInt32(PCRE2_LITERAL) : UInt32(PCRE2_NEVER_BACKSLASH_C) | UInt32(PCRE2_AUTO_CALLOUT)
        var number: Int32 = 0
        var offset = 0
        guard let compiled = pcre2_compile_8(bytes, bytes.count, options, &number, &offset, nil) else {
            throw SyntaxError(offset: min(offset, bytes.count), message: RegularExpression.message(number))
        }
        // Without JIT the interpreter is used.
        _ = pcre2_jit_compile_8(compiled, UInt32(PCRE2_JIT_COMPLETE))
        var groups: UInt32 = 0
        _ = pcre2_pattern_info_8(compiled, UInt32(PCRE2_INFO_CAPTURECOUNT), &groups)
        code = compiled
        self.isWhole = isWhole
        groupCount = Int(groups)
    }

    deinit { pcre2_code_free_8(code) }

    private static func message(_ number: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let count = pcre2_get_error_message_8(number, &text, text.count)
        return count > 0 ? String(decoding: text[..<Int(count)], as: UTF8.self) : "not a valid regular expression"
    }

    /// Calls `body` with each match in valid UTF-8 until `body` returns `false`; `body` must not keep the match.
    package func forEachMatch(in subject: UnsafeRawBufferPointer, _ body: (TextMatch) -> Bool) throws(MatchLimitError) {
        // PCRE2 needs a pointer even for an empty text.
        let base = subject.baseAddress ?? UnsafeRawPointer(code)
        guard let data = pcre2_match_data_create_from_pattern_8(code, nil),
            let context = pcre2_match_context_create_8(nil)
        else { throw MatchLimitError() }
        let work = UnsafeMutablePointer<MatchingWork>.allocate(capacity: 1)
        let allowance = MatchingAllowance.current
        work.initialize(to: MatchingWork(size: subject.count, allowance: allowance?.left ?? MatchingWork.basicLimit))
        var stack: OpaquePointer?
        defer {
            allowance?.charge(work.pointee.excess)
            pcre2_match_data_free_8(data)
            pcre2_match_context_free_8(context)
            work.deallocate()
            if let stack { pcre2_jit_stack_free_8(stack) }
        }
        pcre2_set_match_limit_8(context, UInt32.max)
        pcre2_set_heap_limit_8(context, RegularExpression.memoryLimit)
        pcre2_set_callout_8(context, MatchingWork.count, work)
        let text = base.assumingMemoryBound(to: UInt8.self)
        var start = 0
        // The first call checks the UTF-8 of the whole text.
        var options: UInt32 = 0
        while start <= subject.count {
            let count = pcre2_match_8(code, text, subject.count, start, options, data, context)
            if count == PCRE2_ERROR_NOMATCH { return }
            if count == PCRE2_ERROR_JIT_STACKLIMIT, stack == nil {
                stack = pcre2_jit_stack_create_8(64 << 10, RegularExpression.largestStack, nil)
                if let stack {
                    pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack))
                    continue
                }
            }
            guard count > 0, let offsets = pcre2_get_ovector_pointer_8(data) else { throw MatchLimitError() }
            let match = TextMatch(offsets: offsets, count: Int(count))
            guard body(match), !isWhole else { return }
            // After an empty match, search for a longer one here, or further on.
            options = UInt32(PCRE2_NO_UTF_CHECK) | (match.whole.isEmpty ? UInt32(PCRE2_NOTEMPTY_ATSTART) : 0)
            start = max(start, match.whole.upperBound)
            work.pointee.count(RegularExpression.matchCost)
        }
    }

    package func matches(_ subject: UnsafeRawBufferPointer) throws(MatchLimitError) -> Bool {
        var isFound = false
        try forEachMatch(in: subject) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    package func forEachMatch(
        in text: String,
        _ body: (TextMatch, UnsafeRawBufferPointer) -> Bool
    ) throws(MatchLimitError) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes throws(MatchLimitError) in
            let subject = UnsafeRawBufferPointer(bytes)
            try forEachMatch(in: subject) { body($0, subject) }
        }
    }

    /// The groups of the first match, empty for groups that did not take part; `nil` without a match.
    package func captures(in text: String) throws(MatchLimitError) -> [String]? {
        var captures: [String]?
        try forEachMatch(in: text) { match, subject in
            captures = (0..<groupCount).map { number in
                match.group(number + 1).map { String(decoding: subject[$0], as: UTF8.self) } ?? ""
            }
            return false
        }
        return captures
    }

    private static let matchCost: UInt64 = 64
}

/// Limits the matching work for one exchange beyond the allowances for the sizes of its texts: each of many texts might
/// come close to its own limit.
package final class MatchingAllowance: Sendable {
    @TaskLocal package static var current: MatchingAllowance?

    private let spent = Atomic<UInt64>(0)

    package init() {}

    /// About 15 ms.
    private static let limit = 4 * MatchingWork.basicLimit

    fileprivate var left: UInt64 {
        let spent = spent.load(ordering: .relaxed)
        return spent < MatchingAllowance.limit ? min(MatchingAllowance.limit - spent, MatchingWork.basicLimit) : 0
    }

    fileprivate func charge(_ work: UInt64) { spent.wrappingAdd(work, ordering: .relaxed) }
}

/// Counts the work of matching; a unit takes 150 to 300 ps. PCRE2 calls `count` before each item that it tries, with
/// its position. Work between two calls, such as matching a line with `.*`, counts as the distance of their positions.
private struct MatchingWork {
    private var spent: UInt64 = 0
    private let bySize: UInt64
    private let limit: UInt64
    private var position = 0

    /// `allowance` is added to the work that the size allows.
    init(size: Int, allowance: UInt64) {
        bySize = MatchingWork.limitPerByte * UInt64(size)
        limit = min(allowance + bySize, MatchingWork.longLimit + MatchingWork.longLimitPerByte * UInt64(size))
    }

    /// The cost beyond the allowance for the subject's size.
    var excess: UInt64 { spent - min(spent, bySize) }

    /// 3 to 5 ms: a thousand times what ordinary expressions need for a URL or field.
    static let basicLimit: UInt64 = 16_000_000
    /// About 100 ns for each byte; most expressions need less than a quarter.
    private static let limitPerByte: UInt64 = 512
    /// 50 to 90 ms, for subjects from half a megabyte.
    private static let longLimit: UInt64 = 300_000_000
    /// About 15 ns for each byte.
    private static let longLimitPerByte: UInt64 = 64
    private static let itemCost: UInt64 = 32

    mutating func count(_ units: UInt64) { spent &+= units }

    private mutating func goesOn(at place: Int) -> Bool {
        spent &+= MatchingWork.itemCost &+ UInt64(abs(place - position))
        position = place
        return spent <= limit
    }

    static let count: @convention(c) (UnsafeMutablePointer<pcre2_callout_block_8>?, UnsafeMutableRawPointer?) -> CInt =
        { block, data in
            guard let block, let work = data?.assumingMemoryBound(to: MatchingWork.self) else { return 0 }
            return work.pointee.goesOn(at: block.pointee.current_position) ? 0 : PCRE2_ERROR_CALLOUT
        }
}

/// A match by byte offsets, valid only within the closure.
package struct TextMatch {
    private let offsets: UnsafePointer<Int>
    private let count: Int

    fileprivate init(offsets: UnsafePointer<Int>, count: Int) { (self.offsets, self.count) = (offsets, count) }

    package var whole: Range<Int> { group(0) ?? 0..<0 }

    package func group(_ number: Int) -> Range<Int>? {
        guard number < count else { return nil }
        let (from, to) = (offsets[2 * number], offsets[2 * number + 1])
        // With \K in a lookahead the end may precede the start.
        return from >= 0 && from <= to ? from..<to : nil
    }
}
