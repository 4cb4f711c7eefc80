/// When a recorder goes on in another file, how its files are named, and which of them stay.
package struct SessionRotation: Sendable, Hashable {
    /// Which of the finished files stay.
    package enum Keep: Sendable, Hashable {
        /// So many of the newest, the one that is being recorded among them.
        case files(Int)
        /// Those that were written last at most so many microseconds ago.
        case age(Int64)
    }

    package var pattern: SessionPattern
    /// For how many microseconds a file is recorded; `nil` for any time.
    package var period: Int64?
    /// How large a file grows, in bytes; `nil` for any size.
    package var size: Int64?
    /// `nil` if all of them stay.
    package var keep: Keep?

    package init(pattern: SessionPattern, period: Int64? = nil, size: Int64? = nil, keep: Keep? = nil) {
        (self.pattern, self.period, self.size, self.keep) = (pattern, period, size, keep)
    }
}

/// What a recorder did by itself that a user should know of.
package enum RecorderRemark: Sendable, Hashable {
    /// The recording goes on in another file.
    case rotated(from: String, to: String)
    /// The recording stays in a file, since the next one cannot be made; it is tried again.
    case cannotRotate(String, SessionError)
    /// Files of earlier rotations were removed.
    case removed([String])
    /// Bodies, or whole exchanges, are dropped from now on to keep the session below its largest size.
    case dropping(String, largest: Int64)
}
