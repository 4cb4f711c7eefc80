import Foundation

package enum RootCommand {
    /// In one line, with `sudo` unless the user is root.
    package static func line(_ commands: String..., isRoot: Bool = geteuid() == 0) -> String {
        commands.map { isRoot ? $0 : "sudo \($0)" }.joined(separator: " && ")
    }
}
