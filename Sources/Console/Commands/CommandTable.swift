/// All commands: help, palette, footer, key file and linear mode are made from these rows, and `update` performs them.
/// Each group of rows is a file of `Groups`.
package enum CommandTable {
    /// The rows, in the order of help.
    package static let entries: [CommandEntry] = [
        (.move, moving), (.look, looking), (.tools, tools), (.holds, holds), (.share, share), (.send, send),
        (.session, session), (.console, console),
    ].flatMap { (group: CommandEntry.Group, rows: [CommandEntry]) in rows.map { $0.with { $0.group = group } } }

    package static func entry(_ command: Command) -> CommandEntry? { byCommand[command] }

    private static let byCommand = Dictionary(entries.map { ($0.command, $0) }) { first, _ in first }

    typealias Row = CommandEntry

    static let texts: Set<Context> = [.list, .detail, .report]
    static let reading: Set<Context> = [.list, .detail, .panel, .picker, .report]
}
