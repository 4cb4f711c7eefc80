import ArgumentParser
import Files
import Foundation
import Jobs
import Recording
import Runner
import Text

extension Import {
    struct Session: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "session",
            abstract: "Make a session of other programs' recordings.",
            discussion: """
                  sluice import session trace.chlsj browser.har -o bug.sluice
                  sluice import session commands.sh

                Files are recognised by their content: HAR, sessions of Charles, flows of mitmproxy, cURL commands, sessions and \
                bundles of Sluice. An existing session gets the exchanges under new numbers. 'sluice guide export' explains more.

                Exit codes: 0 all files were read to their ends, 1 one could not be, 2 wrong usage.
                """
        )

        @Argument(help: .value("file", "The files to import."), completion: .file()) var files: [String]
        @Option(
            name: .shortAndLong,
            help: .value("session", "The session to write. (default: a new one)"),
            completion: .newSession
        )
        var output: String?

        func validate() throws {
            if output?.isEmpty == true { throw ValidationError("-o needs the name of a session.") }
        }

        func run() async throws {
            let path = try output ?? StandardPaths.newSession()
            if OutputFile.isThere(path), try ArchiveFile.isArchive(path) {
                throw StartError("\(path) exists and is not a session.", hint: "Use another name.", isUsage: true)
            }
            let isNew = !FileManager.default.fileExists(atPath: path)
            let edits = RecordedSessionEdits(path: path)
            var (count, isWhole) = (0, true)
            func removeEmpty() {
                guard count == 0, isNew else { return }
                for companion in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + companion) }
            }
            let consequence = "The rest was not imported."
            try await LongWork.run("importing", .bytes, consequence: consequence) { work in
                for file in files {
                    do {
                        let outcome = try await importExchanges(of: file, edits, work)
                        count += outcome.count
                        isWhole = isWhole && outcome.problem == nil
                        StandardStreams.out(Self.words(outcome, of: file))
                    } catch {
                        isWhole = false
                        let error = Self.namingOutput(error)
                        StandardStreams.error(Self.isPositioned(error) ? "\(error)\n" : ErrorLine.text("\(error)"))
                    }
                    guard let interruption = work.interruption else { continue }
                    removeEmpty()
                    if count > 0 { StandardStreams.out(Self.summary(count, path)) }
                    throw interruption
                }
            }
            if count == 0, isNew {
                removeEmpty()
                throw isWhole ? StartError("No exchange was imported, so no session was written.") : ExitCode(1)
            }
            StandardStreams.out(Self.summary(count, path))
            if !isWhole { throw ExitCode(1) }
        }

        private func importExchanges(
            of file: String,
            _ edits: RecordedSessionEdits,
            _ work: LongWork
        ) async throws -> ImportOutcome {
            let size = Double(FileFacts(path: file)?.size ?? 0)
            work.begin("importing \((file as NSString).lastPathComponent)")
            return try await edits.importExchanges(of: file) { part in
                (try? work.report(Int64(part * size), part: part)) != nil
            }
        }

        private static func summary(_ count: Int, _ path: String) -> String {
            "Imported \(count.of("exchange")) into \(path)\n"
        }

        /// The error, with this command's option -o instead of --session.
        private static func namingOutput(_ error: any Error) -> any Error {
            guard let error = error as? SessionError else { return error }
            return SessionError(error.code, error.message, hint: error.hint.replacing("--session", with: "-o"))
        }

        private static func isPositioned(_ error: any Error) -> Bool { (error as? StartError)?.isPositioned == true }

        private static func words(_ outcome: ImportOutcome, of file: String) -> String {
            let count = outcome.count
            var text = "\(file): \(outcome.format), \(count.of("exchange"))"
            if let first = outcome.first { text += count == 1 ? ", number \(first)" : ", numbers from \(first)" }
            text += "\n"
            var losses = outcome.losses
            if outcome.unfinished > 0 { losses.append("\(outcome.unfinished) still in flight") }
            for loss in losses { text += "  left out: \(loss)\n" }
            if outcome.isStopped { text += "  stopped before the end\n" }
            if let problem = outcome.problem { text += "  the rest could not be read: \(problem)\n" }
            return text
        }
    }
}
