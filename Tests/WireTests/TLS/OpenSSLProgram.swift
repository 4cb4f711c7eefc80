import Support

/// Runs the `openssl` program; returns its exit status and everything it printed.
func openssl(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let outcome = try ChildProgram.run("openssl", arguments)
    return (outcome.status, outcome.text + String(decoding: outcome.errors, as: UTF8.self))
}
