extension String {
    /// The text as one word of a POSIX shell: in single quotes where it needs them.
    var shellWord: String {
        let isPlain = wholeMatch(of: /[A-Za-z0-9\/._+:,@%=][A-Za-z0-9\/._+:,@%=-]*/) != nil
        return isPlain ? self : "'\(replacing("'", with: "'\\''"))'"
    }
}
