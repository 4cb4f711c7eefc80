/// When a recording continues in a new file, the names of its files, and which files are kept.
package struct SessionRotation: Sendable, Hashable {
    package enum Keep: Sendable, Hashable {
        /// Keeps the newest files, including the current one.
        case files(Int)
        /// Keeps files that changed within this many microseconds.
        case age(Int64)
    }

    package var pattern: SessionPattern
    /// In microseconds.
    package var period: Int64?
    /// In bytes.
    package var size: Int64?
    /// `nil` keeps all.
    package var keep: Keep?

    package init(pattern: SessionPattern, period: Int64? = nil, size: Int64? = nil, keep: Keep? = nil) {
        (self.pattern, self.period, self.size, self.keep) = (pattern, period, size, keep)
    }
}

package enum RecorderRemark: Sendable, Hashable {
    case rotated(from: String, to: String)
    case cannotRotate(String, SessionError)
    case removed([String])
    /// Bodies or exchanges are dropped to keep the session below its largest size.
    case dropping(String, largest: Int64)
}
