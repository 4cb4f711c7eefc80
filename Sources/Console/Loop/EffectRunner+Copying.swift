extension EffectRunner {
    /// Copies a text that is at hand, and says by what.
    func copy(_ text: String, as name: String) {
        start { [self] in
            do {
                switch try SystemClipboard.copy(text) {
                case .tool(let tool): say("\(name) is copied with \(tool).")
                case .terminal: inbox.send(.copied(text, "\(name) is handed to the terminal's clipboard."))
                case .file(let path): say("\(name) is in \(path), as no clipboard is at hand.")
                }
            } catch {
                report(error)
            }
        }
    }
}
