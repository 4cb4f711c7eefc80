import ArgumentParser
import Console
import Foundation
import Jobs
import Runner

struct HoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Show, edit and release messages held by breakpoints.",
        discussion: """
              sluice hold list
              sluice hold edit 12.1 --status 503 --body 'try later'
              sluice hold execute all

            12.1 is the first held message of exchange 12, 12 the waiting one of it, 'all' is every one. 'execute' sends a message, \
            'edit' sends it with changes, 'cancel' sends it unchanged, and 'abort' closes the client's connection.
            """,
        subcommands: [List.self, Show.self, Edit.self, Execute.self, Cancel.self, Abort.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the waiting messages, oldest first."
        )

        @OptionGroup var options: ControlOptions
        @Flag(help: "Print one JSON object for each message.") var json = false

        func run() async throws {
            let holds = try await options.target().holds()
            guard json || !holds.isEmpty else { return StandardStreams.error("sluice: no message is waiting\n") }
            StandardStreams.out(json ? try ControlListing.jsonLines(holds) : ControlListing.table(holds))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a waiting message, with its body decoded."
        )

        @OptionGroup var options: ControlOptions
        @Argument(help: "The message.", completion: .hold) var id: String
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let hold = try await options.target().hold(id)
            StandardStreams.out(json ? try ControlListing.json(hold) : ControlListing.text(hold))
        }
    }

    struct Execute: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "execute", abstract: "Send messages.")

        @OptionGroup var messages: HeldMessages

        func run() async throws { try await messages.decide(.execute, "was sent") }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Send messages unmodified, ignoring earlier edits."
        )

        @OptionGroup var messages: HeldMessages

        func run() async throws { try await messages.decide(.cancel, "was sent unmodified") }
    }

    struct Abort: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "abort",
            abstract: "Close the connections of the messages' clients."
        )

        @OptionGroup var messages: HeldMessages

        func run() async throws { try await messages.decide(.abort, "was aborted") }
    }
}

struct HeldMessages: ParsableArguments {
    @OptionGroup var options: ControlOptions
    @Argument(help: .value("id", "The messages, or 'all'."), completion: .holds) var ids: [String]

    func decide(_ decision: HoldDecision, _ what: String) async throws {
        let result = try await options.target().decide(ids, decision)
        for id in result.decided { StandardStreams.out("\(id) \(what)\n") }
        for id in result.gone { StandardStreams.error("sluice: \(id) was no longer waiting\n") }
        if result.decided.isEmpty, result.gone.isEmpty { StandardStreams.error("sluice: no message is waiting\n") }
        if !result.gone.isEmpty { throw ExitCode(1) }
    }
}

extension HoldCommand {
    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Edit a waiting message and send it.",
            discussion: """
                  sluice hold edit 12.1 --status 503 --body 'try later'
                  sluice hold edit 12.1 --header 'X-Debug: 1' json.user.name=Ada
                  sluice hold edit 12.1

                Without options, the message opens in $VISUAL or $EDITOR. TEXT may be @FILE, or @- for standard input. 'sluice guide \
                breakpoints' explains more.
                """
        )

        @OptionGroup var options: ControlOptions
        @Argument(help: "The message.", completion: .hold) var id: String
        @Argument(
            help: .value("place=value", "Set a value: header, cookie, query, form or json, as in json.user.name=Ada.")
        )
        var values: [String] = []
        @Option(help: .value("place", "Remove a value; repeatable.")) var remove: [String] = []
        @Option(help: "A request's method.") var method: String?
        @Option(help: "A request's absolute URL; Host follows.") var url: String?
        @Option(help: "A request's path, with or without a query.") var path: String?
        @Option(help: .value("name=value", "Set a query parameter; repeatable.")) var query: [String] = []
        @Option(help: .value("name", "Remove a query parameter; repeatable.")) var removeQuery: [String] = []
        @Option(help: .value("name: value", "Set a header field; repeatable.")) var header: [String] = []
        @Option(help: .value("name: value", "Add a header field; repeatable.")) var addHeader: [String] = []
        @Option(help: .value("name", "Remove all header fields of a name; repeatable.")) var removeHeader: [String] = []
        @Option(help: "A response's status.") var status: Int?
        @Option(help: .value("text", "The body.")) var body: String?
        @Option(help: .value("name=value", "Set a field of a form body; repeatable.")) var form: [String] = []
        @Option(help: .value("text", "The whole message, as the editor shows it.")) var raw: String?

        func run() async throws {
            let edit = try readOptions()
            let target = try options.target()
            guard !edit.isEmpty else { return try await editByHand(target) }
            StandardStreams.out("\(try await target.editHold(id, edit)) was sent with your edits\n")
        }

        private func readOptions() throws -> HoldEdit {
            let changes: [(HoldOption, [String?])] = [
                (.raw, [raw]), (.method, [method]), (.url, [url]), (.path, [path]), (.query, query),
                (.removeQuery, removeQuery), (.header, header), (.addHeader, addHeader), (.removeHeader, removeHeader),
                (.status, [status.map(String.init)]), (.body, [body]), (.form, form), (.remove, remove),
            ]
            var edit = HoldEdit()
            do {
                for (option, values) in changes {
                    for case let value? in values { try option.add(value, to: &edit) }
                }
                for word in values { try HoldOption.read(word, into: &edit) }
            } catch let failure as ControlError {
                throw StartError(failure.message, hint: failure.hint, isUsage: true)
            } catch let failure as ConsoleError {
                throw StartError("\(failure)", isUsage: true)
            }
            return edit
        }

        private func editByHand(_ target: any ControlTarget) async throws {
            let hold = try await target.hold(id)
            let name = hold.summary.id
            let comment = "# \(hold.summary.side) \(name); lines with # up here are ignored\n"
            let editor = try TextEditor(comment + hold.draft, name: name)
            var edit = HoldEdit()
            switch try editor.run() {
            case .text(let text): edit.raw = text
            case .failed(let how):
                editor.remove()
                throw StartError("The editor \(how); \(name) is still waiting.")
            }
            do {
                StandardStreams.out("\(try await target.editHold(name, edit)) was sent with your edits\n")
                editor.remove()
            } catch {
                throw StartError(
                    "\(error)\nYour text is kept in \(editor.path).",
                    hint: "Fix it and send it with: sluice hold edit \(name) --raw @\(editor.path)"
                )
            }
        }
    }
}
