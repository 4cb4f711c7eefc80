package enum TerminalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither standard input and output nor `/dev/tty` is a terminal.
    case noTerminal
    case refused(code: Int32)
    case signalsInUse, noDescriptors

    package var description: String {
        switch self {
        case .noTerminal: "there is no terminal to draw on"
        case .refused(let code): "the terminal cannot be switched to raw input (error \(code))"
        case .signalsInUse: "signals are listened for already"
        case .noDescriptors: "the process may open no more files"
        }
    }
}
