import ArgumentParser
import Files
import Foundation
import Jobs
import Recording
import Runner

extension Import {
    struct Session: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a session of other programs' recordings.",
            discussion: """
                What a file is is told by its content: HAR; sessions of Charles (.chlsj, .xml, .chlz, .chls from version 4); \
                flows of mitmproxy 5 to 12; cURL commands as browsers copy them; other sessions and bundles of Sluice. \
                Bodies and texts have at most 64 MiB, files of cURL commands too, flows of mitmproxy 512 MiB.

                A session that is there gets the exchanges besides its own, under new numbers. For each file a line tells \
                how many came and what was left out.

                For example: sluice import session trace.chlsj browser.har -o bug.sluice && sluice open bug.sluice

                Exit codes: 0 all files were read to their ends, 1 one could not be, 2 wrong usage.
                """
        )

        @Argument(help: .value("file", "What is to be read."), completion: .file()) var files: [String]
        @Option(
            name: .shortAndLong,
            help: .value("session", "The session to write. (default: a new one beside those of 'sluice run')"),
            completion: .newSession
        )
        var output: String?

        func validate() throws {
            if output?.isEmpty == true { throw ValidationError("The name of the session to write is empty.") }
        }

        func run() async throws {
            let path = try output ?? newSession()
            if OutputFile.isThere(path), try ArchiveFile.isArchive(path) {
                throw StartError("\(path) is there already, and no session.", hint: "Name another file.", isUsage: true)
            }
            let isNew = !FileManager.default.fileExists(atPath: path)
            let edits = RecordedSessionEdits(path: path)
            var (count, isWhole) = (0, true)
            // Nobody needs an empty session.
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
                throw isWhole ? StartError("No exchange came in, so no session was written.") : ExitCode(1)
            }
            StandardStreams.out(Self.summary(count, path))
            if !isWhole { throw ExitCode(1) }
        }

        private func importExchanges(
            of file: String,
            _ edits: RecordedSessionEdits,
            _ work: LongWork
        ) async throws -> ImportOutcome {
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            let size = (attributes?[.size] as? NSNumber)?.doubleValue ?? 0
            work.begin("importing \((file as NSString).lastPathComponent)")
            return try await edits.importExchanges(of: file) { part in
                (try? work.report(Int64(part * size), part: part)) != nil
            }
        }

        private static func summary(_ count: Int, _ path: String) -> String {
            "\(count) \(count == 1 ? "exchange is" : "exchanges are") in \(path)\n"
        }

        private func newSession() throws -> String {
            try StandardPaths.makeDirectory(StandardPaths.sessions)
            return StandardPaths.newSession()
        }

        /// What is said of a session that cannot be written, with the option that it has here.
        private static func namingOutput(_ error: any Error) -> any Error {
            guard let error = error as? SessionError else { return error }
            return SessionError(error.code, error.message, hint: error.hint.replacing("--session", with: "-o"))
        }

        private static func isPositioned(_ error: any Error) -> Bool { (error as? StartError)?.isPositioned == true }

        private static func words(_ outcome: ImportOutcome, of file: String) -> String {
            let count = outcome.count
            var text = "\(file): \(outcome.format), \(count) \(count == 1 ? "exchange" : "exchanges")"
            if let first = outcome.first { text += count == 1 ? ", number \(first)" : ", from \(first) on" }
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
