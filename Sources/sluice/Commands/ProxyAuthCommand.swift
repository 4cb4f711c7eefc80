import ArgumentParser
import Files
import Foundation
import ProxyServer
import Runner
import Wire

struct ProxyAuthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy-auth",
        abstract: "The users who may use a proxy that is started with --proxy-auth.",
        discussion: """
            Passwords are kept as hashes (scrypt). A proxy reads the file when it starts:

              sluice proxy-auth add ana
              sluice run --listen 0.0.0.0:8080 --allow 192.168.0.0/16 --proxy-auth "$(sluice proxy-auth path)"
            """,
        subcommands: [Add.self, Remove.self, List.self, Path.self]
    )

    struct FileOption: ParsableArguments {
        @Option(help: "The file of users. (default: proxy-users beside the authority's certificate)")
        var file: String?

        var path: String { file ?? ProxyUsersFile.standard }

        /// The users of the file; none where there is no file yet.
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
            abstract: "Add a user, or give one another password; asks for it on the terminal."
        )

        @Argument(help: "The user's name, without ':' and spaces.") var user: String
        @OptionGroup var file: FileOption

        @Option(help: "The file whose first line is the password, or - for standard input.")
        var passwordFile: String?

        func validate() throws {
            if let reason = ProxyUsers.fault(ofUser: user) { throw ValidationError("'\(user)': \(reason).") }
        }

        func run() throws {
            var users = try file.users()
            let isNew = !users.names.contains(user)
            let password = try Password.choose(nil, passwordFile) ?? PasswordPrompt.askTwice("Password of \(user)")
            guard password.utf8.count <= ProxyUsers.longest else {
                throw StartError("The password is longer than \(ProxyUsers.longest) bytes, which SOCKS cannot carry.")
            }
            let hash: PasswordHash
            do {
                hash = try PasswordHash(of: password.utf8)
            } catch {
                throw StartError("The password cannot be hashed: \(error).", hint: "Try again when memory is free.")
            }
            users.set(hash, for: user)
            try ProxyUsersFile.write(users, to: file.path)
            StandardStreams.error("sluice: \(isNew ? "added" : "changed") \(user) in \(file.path)\n")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a user.")

        @Argument(help: "The user's name.") var user: String
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
        static let configuration = CommandConfiguration(abstract: "Print the users' names.")

        @OptionGroup var file: FileOption

        func run() throws { StandardStreams.out(try file.users().names.map { $0 + "\n" }.joined()) }
    }

    struct Path: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the path of the standard file of users.")

        func run() throws { StandardStreams.out(ProxyUsersFile.standard + "\n") }
    }
}

/// Asks for a password on the terminal, without showing it.
enum PasswordPrompt {
    /// Asks, and once more to be sure; throws where there is no terminal.
    static func askTwice(_ question: String) throws -> String {
        let first = try ask("\(question): ")
        guard try ask("The same again: ") == first else {
            throw StartError("The two passwords differ; nothing was changed.")
        }
        return first
    }

    private static func ask(_ question: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw StartError("There is no terminal to ask for a password on.", hint: "Give it with --password-file.")
        }
        defer { close(terminal) }
        var kept = termios()
        guard tcgetattr(terminal, &kept) == 0 else { throw StartError("The terminal cannot be read.") }
        var raw = kept
        // Also without signals, as one that ends the process would leave the terminal so.
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(terminal, TCSAFLUSH, &raw)
        defer { tcsetattr(terminal, TCSAFLUSH, &kept) }
        say(question, on: terminal)
        defer { say("\r\n", on: terminal) }
        let line = try line(from: terminal)
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw StartError("No password was given; nothing was changed.")
        }
        return text
    }

    private static func line(from terminal: CInt) throws -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count <= ProxyUsers.longest, read(terminal, &byte, 1) == 1 {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return line
            // Ctrl-C, and Ctrl-D on an empty line.
            case 0x03: throw ExitCode(130)
            case 0x04 where line.isEmpty: return line
            case 0x08, 0x7F:
                // A character of UTF-8 goes as a whole.
                while let last = line.popLast(), last & 0xC0 == 0x80 {}
            // Ctrl-U.
            case 0x15: line = []
            default: line.append(byte)
            }
        }
        return line
    }

    private static func say(_ text: String, on terminal: CInt) {
        let bytes = Array(text.utf8)
        _ = write(terminal, bytes, bytes.count)
    }
}
