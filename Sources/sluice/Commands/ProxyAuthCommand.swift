import ArgumentParser
import Files
import Foundation
import Jobs
import ProxyServer
import Runner
import Wire

struct ProxyAuthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy-auth",
        abstract: "Manage the users of --proxy-auth.",
        discussion: """
              sluice proxy-auth add ana
              sluice run --listen 0.0.0.0:8080 --allow 192.168.0.0/16 --proxy-auth "$(sluice proxy-auth path)"

            Passwords are kept as hashes (scrypt). A proxy reads the file when it starts.
            """,
        subcommands: [Add.self, Remove.self, List.self, Path.self]
    )

    struct FileOption: ParsableArguments {
        @Option(help: "The file of users. (default: as 'path' prints it)", completion: .file()) var file: String?

        var path: String { file ?? ProxyUsersFile.standard }

        /// No users if there is no file yet.
        func users() throws -> ProxyUsers {
            do {
                return try ProxyUsersFile.read(path)
            } catch let error as FileError where error.cause == .missing {
                return ProxyUsers()
            }
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a user or change a password, which it asks for."
        )

        @Argument(help: "The user's name, without ':' and spaces.") var user: String
        @OptionGroup var file: FileOption

        @Option(help: "The file whose first line is the password, or - for standard input.", completion: .file())
        var passwordFile: String?

        func validate() throws {
            if let reason = ProxyUsers.fault(ofUser: user) { throw ValidationError("'\(user)': \(reason).") }
        }

        func run() throws {
            var users = try file.users()
            let isNew = !users.names.contains(user)
            let password = try Password.choose(nil, passwordFile) ?? askTwice()
            guard password.utf8.count <= ProxyUsers.longest else {
                throw StartError("The password is longer than \(ProxyUsers.longest) bytes, which SOCKS cannot carry.")
            }
            let hash: PasswordHash
            do {
                hash = try PasswordHash(of: password.utf8)
            } catch {
                throw StartError("The password cannot be hashed: \(error).", hint: "Try again with more free memory.")
            }
            users.set(hash, for: user)
            try ProxyUsersFile.write(users, to: file.path)
            StandardStreams.error("sluice: \(isNew ? "added" : "changed") \(user) in \(file.path)\n")
        }

        private func askTwice() throws -> String {
            guard let first = try PasswordPrompt.ask(user) else {
                let hint = "Without a terminal, use --password-file."
                throw StartError("No password was given; nothing was changed.", hint: hint)
            }
            guard try PasswordPrompt.ask("\(user), once more") == first else {
                throw StartError("The two passwords differ; nothing was changed.")
            }
            return first
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user.")

        @Argument(help: "The user's name.", completion: .proxyUser) var user: String
        @OptionGroup var file: FileOption

        func run() throws {
            var users = try file.users()
            guard users.remove(user) else {
                let known = users.names.isEmpty ? "has no users" : "has \(users.names.joined(separator: ", "))"
                throw StartError("There is no user '\(user)': \(file.path) \(known).")
            }
            try ProxyUsersFile.write(users, to: file.path)
            StandardStreams.error("sluice: removed \(user) from \(file.path)\n")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "Print the users' names.")

        @OptionGroup var file: FileOption

        func run() throws { StandardStreams.out(try file.users().names.map { $0 + "\n" }.joined()) }
    }

    struct Path: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "path",
            abstract: "Print the path of the standard file of users."
        )

        func run() throws { StandardStreams.out(ProxyUsersFile.standard + "\n") }
    }
}
