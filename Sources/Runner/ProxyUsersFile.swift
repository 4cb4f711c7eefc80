import Files
import Jobs
package import ProxyServer

package enum ProxyUsersFile {
    /// In bytes.
    private static let longest = 1 << 20

    /// The default file of `sluice proxy-auth`.
    package static var standard: String { StandardPaths.configuration + "/proxy-users" }

    /// Throws `StartError` with the line that cannot be used.
    package static func read(_ path: String, takesPipes: Bool = false) throws -> ProxyUsers {
        let bytes = try InputFile.contents(of: path, atMost: longest + 1, takesPipes: takesPipes)
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
            throw StartError("\(path) is not a file of users: it is longer than 1 MiB or not UTF-8.", hint: advice)
        }
        do throws(ProxyUsersError) {
            let users = try ProxyUsers(text)
            if users.names.isEmpty { throw ProxyUsersError(line: 1, reason: "there is no user") }
            return users
        } catch {
            throw StartError("\(path):\(error.line): \(error.reason).", hint: advice)
        }
    }

    /// Writes a file readable only by its owner, as a whole or not at all.
    package static func write(_ users: ProxyUsers, to path: String) throws {
        if path == standard { try StandardPaths.makeDirectory(StandardPaths.configuration) }
        let file = try OutputFile(path, isSecret: true)
        try file.write(users.text)
        try file.finish()
    }

    private static let advice = "Its lines have the form USER:HASH; 'sluice proxy-auth add USER' writes them."
}
