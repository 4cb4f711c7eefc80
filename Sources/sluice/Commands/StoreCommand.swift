import ArgumentParser
import Description
import Files
import Foundation
import HTTPModel
import Jobs
import Recording
import Runner
import Store
import Text

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Keep the traffic of many proxies in one PostgreSQL.",
        discussion: """
              sluice store init postgresql://localhost/team
              sluice run --store postgresql://localhost/team --label branch=main -- ./check.sh
              sluice list postgresql://localhost/team 'status:5xx since:2h'

            'sluice guide store' explains stores.
            """,
        subcommands: [
            StoreInit.self, StoreStatus.self, StoreSessions.self, StoreFetchCommand.self, StoreImportCommand.self,
            StorePrune.self,
        ]
    )
}

extension ArgumentHelp {
    fileprivate static var store: ArgumentHelp { .value("url", "The store: postgresql://user@host/database.") }
}

struct StoreInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a project in a store: tables, and a role for writers and one for readers.",
        discussion: """
              sluice store init postgresql://localhost/team --project checkout

            Run it as a user who may create schemas and roles. What is there stays as it is.
            """
    )

    @Argument(help: .store) var url: String
    @OptionGroup var project: StoreProject

    func run() throws {
        let address = try project.address(url)
        try StoreWriter.create(address)
        StandardStreams.out(
            """
            The project \(address.project) is in \(address.shown).
            Who writes gets one role, who reads the other:
              GRANT \(address.project)_writer TO NAME;
              GRANT \(address.project)_reader TO NAME;

            """
        )
    }
}

struct StoreStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what a store has, and what Sluices on this machine have yet to send.",
        discussion: "  sluice store status postgresql://localhost/team"
    )

    @Argument(help: .store) var url: String
    @OptionGroup var project: StoreProject

    func run() throws {
        let address = try project.address(url)
        let recordings = try StoreReader(address).recordings()
        let newest = recordings.compactMap(\.last).max().map { ", the newest from \(Timestamp.readable($0))" } ?? ""
        let exchanges = recordings.reduce(0) { $0 + $1.exchanges }
        let missing = recordings.reduce(0) { $0 + $1.missing }
        var lines = [
            "store       \(address.shown), project \(address.project)",
            "recordings  \(recordings.count.grouped)",
            "exchanges   \(exchanges.grouped)\(newest)",
        ]
        if missing > 0 {
            lines.append("missing     \(missing.grouped), removed by --max-session before they were sent")
        }
        for (process, store) in RunningSluices.stores(within: .seconds(1))
        where store.address == address.shown && store.project == address.project {
            lines.append("process     \(process): \(VisibleText.of(ControlListing.text(store)))")
        }
        StandardStreams.out(lines.map { $0 + "\n" }.joined())
    }
}

struct StoreSessions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List the recordings of a store.",
        discussion: "  sluice store sessions postgresql://localhost/team"
    )

    @Argument(help: .store) var url: String
    @OptionGroup var project: StoreProject
    @Flag(help: "Print a JSON object for each recording.") var json = false

    func run() throws {
        let recordings = try StoreReader(try project.address(url)).recordings()
        let file = try OutputFile(nil)
        if !json { try file.write(row("SESSION", "EXCHANGES", ["FIRST", "LAST"], "LABELS")) }
        for recording in recordings {
            let labels = recording.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\(VisibleText.of($0.value))" }
            let times = [recording.first, recording.last].map { $0.map { Timestamp.readable($0) } ?? "" }
            let missing = recording.missing > 0 ? ["(\(recording.missing.grouped) missing)"] : []
            let text = (labels + missing).joined(separator: " ")
            let count = recording.exchanges.grouped
            try file.write(json ? try line(recording) : row(recording.session, count, times, text))
        }
    }

    private func row(_ session: String, _ count: String, _ times: [String], _ labels: String) -> String {
        let cells = [session.filled(to: 36), count.filled(to: 9)] + times.map { $0.filled(to: 27) } + [labels]
        return cells.joined(separator: "  ") + "\n"
    }

    private func line(_ recording: StoreReader.Recording) throws -> String {
        struct Line: Encodable {
            let session: String
            let labels: [String: String]
            let exchanges: Int64
            let first: String?
            let last: String?
            let missing: Int64
        }
        let line = Line(
            session: recording.session,
            labels: recording.labels,
            exchanges: recording.exchanges,
            first: recording.first.map { Timestamp.iso8601($0) },
            last: recording.last.map { Timestamp.iso8601($0) },
            missing: recording.missing
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(line), as: UTF8.self) + "\n"
    }
}

struct StoreFetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Make a session of the exchanges that fit.",
        discussion: """
              sluice store fetch postgresql://localhost/team 'status:5xx since:2h' -o failures.sluice

            \(FilterHelp.text)
            """
    )

    @Argument(help: .store) var url: String
    @Argument(help: .value("filter", "Which exchanges; also session: and label:."), completion: .filter)
    var filter: [String] = []
    @OptionGroup var reading: StoreReading
    @Option(name: .shortAndLong, help: .value("file", "The session to write."), completion: .file())
    var output: String
    @Flag(help: "Overwrite the file.") var force = false

    func run() throws {
        let fetch = try reading.fetch(url, isStore: true)
        let consequence = "\(output) was not written."
        let outcome = try LongWork.run("fetching", .things("exchange"), consequence: consequence) { work in
            try fetch?.fetch(filter, to: output, overwrites: force, work: work)
        }
        guard let outcome else { return }
        StandardStreams.error("sluice: \(outcome.count.of("exchange")) in \(output)\n")
        if outcome.hasMore { StandardStreams.error("sluice: only the newest that fit; --limit takes more\n") }
    }
}

struct StoreImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Send a recorded session to a store.",
        discussion: """
              sluice store import postgresql://localhost/team last

            Exchanges that the store has already are not sent again.
            """
    )

    @Argument(help: .store) var url: String
    @Argument(help: .session, completion: .session) var session: String
    @OptionGroup var project: StoreProject
    @Option(help: .value("k=v", "A label of the recording; repeatable.")) var label: [String] = []
    @OptionGroup var masking: StoreMasking

    func run() throws {
        var settings = try masking.apply(to: try project.shipper(url))
        settings.shipper.labels = try Dictionary(label.map(StoreOptions.label)) { $1 }
        let chosen = settings
        let consequence = "A part was sent; the rest is sent when the command runs again."
        let count = try LongWork.run("reading", .things("exchange"), consequence: consequence) { work in
            let reader = try SessionQuery.open(session, work: work)
            return try StoreImport.run(reader, to: chosen.shipper, key: try chosen.key(for: reader), work: work)
        }
        StandardStreams.error("sluice: \(count.of("exchange")) sent to \(settings.shipper.address.shown)\n")
    }
}

struct StorePrune: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove whole days of a store.",
        discussion: """
              sluice store prune postgresql://localhost/team --older 14d

            Run it as the project's owner, or a superuser.
            """
    )

    @Argument(help: .store) var url: String
    @OptionGroup var project: StoreProject
    @Option(help: .value("age", "Days whose whole traffic is older than this are removed (14d).")) var older: String

    func run() throws {
        guard let age = Filter.microseconds(of: older), age >= 0 else {
            throw ValidationError("--older takes an age such as 14d; not '\(older)'.")
        }
        let moment = Int64(Date().timeIntervalSince1970 * 1_000_000) - age
        let names = try StoreReader(try project.address(url)).prune(before: moment)
        let days = Set(names.map { $0.suffix(8) }).count
        StandardStreams.error("sluice: \(days.of("day")) removed\n")
    }
}
