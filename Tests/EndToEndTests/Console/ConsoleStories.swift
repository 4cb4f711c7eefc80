import Testing

extension UserStories {
    /// What a user sees and does at the console, on a real terminal, with real clients and servers around it.
    @Suite("The console on a terminal")
    enum Consoles {}
}
