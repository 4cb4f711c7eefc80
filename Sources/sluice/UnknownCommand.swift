import ArgumentParser
import Foundation
import HTTPModel
import Jobs

/// A word that is not a command, which ArgumentParser would take for an argument of the console.
struct UnknownCommand {
    private let group: any ParsableCommand.Type
    /// Without `sluice` and `help`.
    private let path: [String]
    private let word: String

    /// `nil` if the arguments name a command or an option comes first.
    init?(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        let isHelp = rest.first == "help"
        if isHelp { rest = rest.dropFirst() }
        var group: any ParsableCommand.Type = Sluice.self
        var path: [String] = []
        while let word = rest.popFirst(), !word.hasPrefix("-"), !word.isEmpty {
            let commands = group.configuration.subcommands
            guard !commands.isEmpty else { return nil }
            guard let command = commands.first(where: { $0._commandName == word }) else {
                if path.isEmpty, word == "help" { return nil }
                (self.group, self.path, self.word) = (group, path, word)
                return
            }
            group = command
            path.append(word)
        }
        return nil
    }

    var text: String {
        let commands = group.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
        let name = (path + [word]).joined(separator: " ")
        var text = "there is no command '\(name)'"
        if let nearest = Spelling.nearest(to: word, among: commands) {
            text += "; did you mean '\((path + [nearest]).joined(separator: " "))'?\n"
        } else if group == Import.self {
            text += ".\nTo import exchanges: sluice import session \(word) -o SESSION\n"
            text += "To import Charles' settings: sluice import charles \(word)\n"
        } else if !path.isEmpty {
            let names = commands.map { "'\((path + [$0]).joined(separator: " "))'" }
            text += ".\nThe commands are \(names.joined(separator: ", ")).\n"
        } else {
            text += FileManager.default.fileExists(atPath: word) ? ".\nTo open the file: sluice open \(word)\n" : ".\n"
        }
        return ErrorLine.text(
            text + "  See '\((["sluice"] + path).joined(separator: " ")) --help' for more information."
        )
    }
}
