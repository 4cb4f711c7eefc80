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

            12.1 is the first message of exchange 12 that was held, 12 the one of exchange 12 that waits, 'all' every one. 'execute' \
            sends a message on, 'edit' sends it on changed, 'cancel' sends it on unchanged, and 'abort' closes the client's \
            connection.
            """,
        subcommands: [List.self, Show.self, Edit.self, Execute.self, Cancel.self, Abort.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the messages that wait, oldest first.")

        @OptionGroup var options: ControlOptions
        @Flag(help: "Print one JSON object for each message.") var json = false

        func run() async throws {
            let holds = try await options.target().holds()
            if json {
                for hold in holds { StandardStreams.out(try ControlListing.json(hold)) }
            } else if holds.isEmpty {
                StandardStreams.error("sluice: no message waits\n")
            } else {
                StandardStreams.out(ControlListing.table(holds))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a message that waits: its head, and its body without content coding."
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
        static let configuration = CommandConfiguration(abstract: "Execute messages: they go on.")

        @OptionGroup var messages: HeldMessages

        func run() async throws { try await messages.decide(.execute, "was executed") }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel holds: messages go on as though they had not been held."
        )

        @OptionGroup var messages: HeldMessages

        func run() async throws { try await messages.decide(.cancel, "was cancelled") }
    }

    struct Abort: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Abort exchanges: the clients of messages are cut off."
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
        for id in result.gone { StandardStreams.error("sluice: \(id) no longer waited\n") }
        if result.decided.isEmpty, result.gone.isEmpty { StandardStreams.error("sluice: no message waits\n") }
        if !result.gone.isEmpty { throw ExitCode(1) }
    }
}

extension HoldCommand {
    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Edit a message that waits, and execute it.",
            discussion: """
                With options, these are applied; without any, the whole message is opened in the editor that VISUAL or \
                EDITOR names. Either way it goes on at once. What is not edited stays byte for byte as it is; lengths \
                follow from the body, and a content coding such as gzip is put on again.

                In the editor, the first line of a request has the absolute URL: another scheme, host or port there \
                sends the request to another place, and the Host field follows unless it is edited too. Saving without \
                a change lets the message go on as it is; an editor that ends with a failure (:cq in vi) leaves it \
                waiting. A text that is no message is kept in its file, and can be mended and given with --raw @FILE.

                TEXT may be @FILE for what is in a file and @- for standard input; @@ stands for a text that begins \
                with @.
                """
        )

        @OptionGroup var options: ControlOptions
        @Argument(help: "The message.", completion: .hold) var id: String
        @Option(help: "A request's method.") var method: String?

        @Option(help: "A request's absolute URL; with another host the request goes there, and Host follows.")
        var url: String?

        @Option(help: "A request's path; the query stays, unless the path has one.") var path: String?

        @Option(help: .value("name=value", "Set a query parameter; further ones of that name go. Repeatable."))
        var query: [String] = []

        @Option(help: .value("name", "Remove a query parameter. Repeatable.")) var removeQuery: [String] = []

        @Option(help: .value("name: value", "Set a header field; further ones of that name go. Repeatable."))
        var header: [String] = []

        @Option(help: .value("name: value", "Add a header field beside others of its name. Repeatable."))
        var addHeader: [String] = []

        @Option(help: .value("name", "Remove all header fields of a name. Repeatable."))
        var removeHeader: [String] = []

        @Option(help: "A response's status.") var status: Int?
        @Option(help: .value("text", "The body.")) var body: String?

        @Option(
            help: .value(
                "path=value",
                """
                Put a value into a JSON body, at a JSON pointer such as /user/name; what is no JSON counts as a text. \
                The last part may be new; '-' means one more element. Repeatable.
                """
            )
        )
        var json: [String] = []

        @Option(help: .value("name=value", "Set a field of a form body. Repeatable.")) var form: [String] = []
        @Option(help: .value("text", "The whole message, in the form that the editor shows.")) var raw: String?

        func run() async throws {
            let edit = try words()
            let target = try options.target()
            guard !edit.isEmpty else { return try await editByHand(target) }
            StandardStreams.out("\(try await target.editHold(id, edit)) was executed as edited\n")
        }

        private func words() throws -> HoldEdit {
            let changes: [(HoldOption, [String?])] = [
                (.raw, [raw]), (.method, [method]), (.url, [url]), (.path, [path]), (.query, query),
                (.removeQuery, removeQuery), (.header, header), (.addHeader, addHeader), (.removeHeader, removeHeader),
                (.status, [status.map(String.init)]), (.body, [body]), (.json, json), (.form, form),
            ]
            var edit = HoldEdit()
            do {
                for (option, values) in changes {
                    for case let value? in values { try option.add(value, to: &edit) }
                }
            } catch let failure as ControlError {
                throw StartError(failure.message, hint: failure.hint, isUsage: true)
            }
            return edit
        }

        private func editByHand(_ target: any ControlTarget) async throws {
            let hold = try await target.hold(id)
            let name = hold.summary.id
            let editor = try TextEditor(
                "# \(hold.summary.side) \(name); lines up here are left out\n" + hold.draft,
                name: name
            )
            var edit = HoldEdit()
            switch try editor.run() {
            case .text(let text): edit.raw = text
            case .failed(let how):
                editor.remove()
                throw StartError("The editor \(how); \(name) still waits.")
            }
            do {
                StandardStreams.out("\(try await target.editHold(name, edit)) was executed as edited\n")
                editor.remove()
            } catch {
                throw StartError(
                    "\(error)\nYour text is kept in \(editor.path).",
                    hint: "Mend it, and give it with: sluice hold edit \(name) --raw @\(editor.path)"
                )
            }
        }
    }
}
