import Foundation

package enum RootCommand {
    /// In one line, with `sudo` unless the user is root.
    package static func line(_ commands: String...) -> String { line(commands, isRoot: geteuid() == 0) }

    package static func line(_ commands: [String], isRoot: Bool) -> String {
        commands.map { isRoot ? $0 : "sudo \($0)" }.joined(separator: " && ")
    }
}
