import ArgumentParser
import Files
import Foundation
import Guide
import HTTPModel
import Jobs
import Terminal
import Text

struct GuideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guide",
        abstract: "Read the guide.",
        discussion: """
              sluice guide
              sluice guide throttle
              sluice guide --search 'trust java'

            A terminal shows a page in $PAGER or less.

            Exit codes: 0 shown or written, 1 --search found nothing or a file could not be written, 2 wrong usage or no such topic.
            """
    )

    @Argument(help: "The page, or its beginning. (default: list all)", completion: .list(Guide.topics))
    var topic: String?
    @Flag(help: "Print the page as Markdown.") var markdown = false
    @Option(help: .value("words", "List the lines with all of these words.")) var search: String?
    @Option(help: .value("directory", "Write all manual pages into a directory."), completion: .directory)
    var man: String?

    func validate() throws {
        if let search, let topic, man == nil {
            let words = "\(search.prefix(80)) \(topic.prefix(80))"
            throw ValidationError("A topic and --search exclude each other; for several words: --search '\(words)'.")
        }
        let given = [topic != nil, search != nil, man != nil].filter { $0 }.count
        if given > 1 { throw ValidationError("A topic, --search and --man exclude each other.") }
        if markdown, topic == nil { throw ValidationError("--markdown needs a topic.") }
    }

    func run() throws {
        let guide = GuideTables.guide()
        if let man { return try write(guide, into: man) }
        if let search { return try list(guide.search([search])) }
        guard let topic else { return show(contents(of: guide)) }
        switch guide.find(topic) {
        case .page(let page): show(markdown ? page.markdown : layout.text(of: page))
        case .several(let topics) where topics.isEmpty:
            let near = Spelling.nearest(to: topic, among: Guide.topics).map { " (did you mean '\($0)'?)" } ?? ""
            throw StartError(
                "The guide has no topic '\(topic.prefix(80))'\(near).",
                hint: "sluice guide lists all topics; sluice guide --search WORDS searches them.",
                isUsage: true
            )
        case .several(let topics):
            throw StartError("'\(topic)' may be \(topics.joined(separator: ", ")).", isUsage: true)
        }
    }

    private var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private var layout: GuideText {
        let environment = ProcessInfo.processInfo.environment
        let isStyled = isTerminal && environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
        return GuideText(width: min(isTerminal ? StatusLine.width(of: STDOUT_FILENO) : 80, 100), isStyled: isStyled)
    }

    private func contents(of guide: Guide) -> String {
        let width = guide.pages.map(\.topic.count).max() ?? 0
        var text = ""
        var group = ""
        for page in guide.pages {
            if page.group != group {
                text += (group.isEmpty ? "" : "\n") + page.group + "\n"
                group = page.group
            }
            text += "  \(page.topic.filled(to: width + 2))\(page.title)\n"
        }
        return text + "\nsluice guide TOPIC shows one; sluice guide --search WORDS searches them.\n"
    }

    private func list(_ places: [Guide.Place]) throws {
        for place in places {
            let section = place.section.isEmpty ? "" : ", \(place.section)"
            StandardStreams.out("\(place.topic)\(section): \(place.line)\n")
        }
        guard places.isEmpty else { return }
        StandardStreams.error("sluice: no line of the guide has these words\n")
        throw ExitCode(1)
    }

    /// Shows a text in the pager if output is a terminal and the pager runs; otherwise prints it.
    private func show(_ text: String) {
        let environment = ProcessInfo.processInfo.environment
        guard isTerminal, environment["TERM"] != "dumb" else { return StandardStreams.out(text) }
        let pager = environment["PAGER"].flatMap { $0.isEmpty ? nil : $0 }
        // -F ends at once if all fits on the screen, -R keeps styles, -X leaves the text there.
        signal(SIGPIPE, SIG_DFL)
        let opened = popen(pager ?? "less -FRX 2>/dev/null || cat", "w")
        signal(SIGPIPE, SIG_IGN)
        guard let pipe = opened else { return StandardStreams.out(text) }
        fputs(text, pipe)
        // The shell's exit codes for a command that is missing or cannot be run.
        if [126, 127].contains(pclose(pipe) >> 8 & 0xFF) { StandardStreams.out(text) }
    }

    private func write(_ guide: Guide, into directory: String) throws {
        var pages = guide.filledPages.map { ManPage($0, version: SluiceVersion.current) }
        if let root = CommandInfo.root {
            pages.append(page(of: root))
            pages += root.children.map { page(of: $0) }
        }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            for page in pages { try Data(page.text.utf8).write(to: URL(filePath: "\(directory)/\(page.name)")) }
        } catch {
            throw StartError("\(directory): \((error as NSError).localizedDescription)")
        }
        StandardStreams.out("\(pages.count) manual pages are in \(directory).\n")
    }

    private func page(of command: CommandInfo) -> ManPage {
        var page = ManPage(
            command.path.joined(separator: "-"),
            section: 1,
            abstract: command.abstract ?? "",
            version: SluiceVersion.current
        )
        page.heading("SYNOPSIS")
        page.verbatim(command.usage)
        page.heading("DESCRIPTION")
        describe(command, in: &page)
        if let examples = command.examples {
            page.heading("EXAMPLES")
            page.verbatim(examples)
        }
        if !command.options.isEmpty { page.heading("OPTIONS") }
        list(command, in: &page)
        page.heading("EXIT STATUS")
        page.paragraph(command.exitCodes ?? "0: success. 1: the check or command failed. 2: wrong usage.")
        page.heading("SEE ALSO")
        page.paragraph("sluice(1), sluice guide")
        return page
    }

    private func describe(_ command: CommandInfo, in page: inout ManPage) {
        if command.discussion?.isEmpty != false, let abstract = command.abstract { page.paragraph(abstract) }
        for part in (command.discussion ?? "").split(separator: "\n\n") {
            let lines = part.split(separator: "\n")
            guard !CommandInfo.isExample(lines[0]) else { continue }
            let text = lines.filter { !$0.hasPrefix(" ") }
            page.paragraph(text.joined(separator: " "))
            if text.count < lines.count { page.verbatim(lines.filter { $0.hasPrefix(" ") }.map(String.init)) }
        }
    }

    private func list(_ command: CommandInfo, in page: inout ManPage) {
        for option in command.options { page.option(option.text, option.summary) }
        let isRoot = command.superCommands?.isEmpty != false
        for child in command.children {
            if isRoot {
                page.option(child.path.joined(separator: "-") + "(1)", child.abstract ?? "")
            } else {
                page.heading(child.path.joined(separator: " "))
                describe(child, in: &page)
                if let examples = child.examples { page.verbatim(examples) }
                list(child, in: &page)
            }
        }
    }
}
