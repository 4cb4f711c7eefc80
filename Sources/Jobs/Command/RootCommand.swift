import Foundation

/// Commands that only root may run.
package enum RootCommand {
    /// Commands that follow each other in one line: with `sudo` for a user, and without for root, who may have none.
    package static func line(_ commands: String..., isRoot: Bool = geteuid() == 0) -> String {
        commands.map { isRoot ? $0 : "sudo \($0)" }.joined(separator: " && ")
    }
}
