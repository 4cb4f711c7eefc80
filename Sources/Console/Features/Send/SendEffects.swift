import Clients
import Description
import Files
import Formats
import HTTPModel
import NIOCore
import Recording
import Runner
import Synchronization
import Text

extension EffectRunner {
    static let longestBody = 64 << 20

    private func request(_ id: ExchangeID, _ reader: SessionReader) throws -> ComposedRequest {
        let exchange = try reader.recorded(id)
        let size = try reader.bodySize(of: id, side: .requestReceived) ?? 0
        guard size <= Self.longestBody else {
            throw ConsoleError("The request's body is longer than \(Self.longestBody >> 20) MiB; copy it as cURL.")
        }
        return try ComposedRequest(exchange, body: reader.body(of: id, side: .requestReceived, limit: Self.longestBody))
    }

    func openRequest(_ id: ExchangeID) {
        onReader { [self] reader in
            let area = TextArea(try request(id, reader).draft)
            open(EditorState(purpose: .request(id), title: "Edit and send", area: area, remark: RequestWords.remark))
        }
    }

    func open(_ editor: EditorState) { inbox.answer { $0.open(editor) } }

    /// Calls `body` with the request on which a draft is based, or with `nil` for a draft without one.
    private func onOriginal(
        of purpose: EditorState.Purpose,
        _ body: @escaping @Sendable (ComposedRequest?) throws -> Void
    ) {
        switch purpose {
        case .request(let id):
            onReader { [self] reader in try body(try id.map { try self.request($0, reader) }) }
        case .newRequest(let base): attempt { try body(base) }
        case .rule, .hold: break
        }
    }

    func editDraft(_ editor: EditorState, _ words: String) {
        onOriginal(of: editor.purpose) { [self] original in
            let request = try ComposedRequest(draft: editor.area.text, original: original)
            var editor = editor
            editor.area = TextArea(try request.edited(DraftChange.edit(words)).draft)
            open(editor)
        }
    }

    /// Sends a recorded request again, or a draft; a rejected draft stays in its editor.
    func send(_ draft: String?, _ purpose: EditorState.Purpose) {
        onOriginal(of: purpose) { [self] original in
            do {
                let sender = try sender()
                let request = try draft.map { try ComposedRequest(draft: $0, original: original) } ?? original
                if draft != nil { inbox.answer { $0.take(answerTo: purpose, refusal: nil) } }
                if let request { send(request, by: sender, of: purpose.origin) }
            } catch {
                let reason = "\(error)"
                inbox.answer { $0.take(answerTo: purpose, refusal: reason) }
            }
        }
    }

    private func send(_ request: ComposedRequest, by sender: RequestSender, of id: ExchangeID? = nil) {
        start { [self] in
            let outcome = await sender.send(request)
            if let failure = outcome.failure {
                return report(ConsoleError("\(request.method) \(request.url): \(failure)"))
            }
            if let made = await reader?.exchange(of: outcome, by: sender)?.id {
                inbox.answer { $0.take(sent: made, of: id) }
            }
            let status = outcome.status.map { ", \($0)" } ?? ""
            say("Sent: \(request.method) \(request.url)\(status), \(Measures.duration(outcome.duration))")
        }
    }

    func composeRequest(_ text: String) {
        attempt(.newRequest) { [self] in
            let request = try RequestWords.request(text)
            let (purpose, area) = (EditorState.Purpose.newRequest(request), TextArea(request.draft))
            let remark = RequestWords.remark + RequestWords.omissions(text)
            open(EditorState(purpose: purpose, title: "New request", area: area, remark: remark))
        }
    }

    func sendEach(_ ids: [ExchangeID]) {
        let begun = cancellations.load(ordering: .relaxed)
        onReader(passes) { [self] reader in
            let sender = try orEnd(.repeating) { try self.sender() }
            start { [self] in
                var (statuses, problems, done) = ([Int: Int](), [String](), 0)
                for id in ids where cancellations.load(ordering: .relaxed) == begun {
                    do {
                        let request = try self.request(id, reader)
                        let outcome = await sender.send(request)
                        if let failure = outcome.failure { throw ConsoleError("\(request.url): \(failure)") }
                        statuses[outcome.status ?? 0, default: 0] += 1
                    } catch {
                        problems.append("\(id): \(error)")
                    }
                    done += 1
                    let progress = Double(done) / Double(ids.count)
                    tell(Job(id: .repeating, title: "sending again", progress: progress, startedAt: 0))
                }
                end(.repeating)
                let counts = statuses.sorted { $0.key < $1.key }.map { "\($1) × \($0)" }.joined(separator: ", ")
                let failed = problems.first.map { "; \(problems.count) failed, first \($0)" } ?? ""
                let stopped = done < ids.count ? ", then stopped" : ""
                let words = "Sent \(done) of \(ids.count) requests\(stopped): \(counts)\(failed)"
                say(words, problems.isEmpty ? .info : .error)
            }
        }
    }

    func repeatMany(_ id: ExchangeID, _ plan: RepeatPlan) {
        let begun = cancellations.load(ordering: .relaxed)
        onReader { [self] reader in
            let (sender, request) = try orEnd(.repeating) { (try self.sender(), try self.request(id, reader)) }
            start { [self] in
                let outcome = await untilCancelled(since: begun) { [self] in
                    await sender.run(request, plan) { progress in
                        self.tell(Job(id: .repeating, title: RepeatText.brief(progress), startedAt: 0))
                    }
                }
                end(.repeating)
                guard let outcome else { return }
                let sent = "Sent \(plan.times) times"
                let title = outcome.isFinished ? sent : "Stopped after \(outcome.done) of \(plan.times)"
                report(title, RepeatText.report(outcome, request), topic: "repeat-and-compare")
            }
        }
    }

    /// Starts a job, and ends it at once if the start fails.
    private func orEnd<Value>(_ job: Job.Kind, _ begin: () throws -> Value) throws -> Value {
        do {
            return try begin()
        } catch {
            end(job)
            throw error
        }
    }

    private func sender() throws -> RequestSender {
        if let sender = services?.sender { return sender }
        throw ConsoleError("Sending needs a forward proxy. Start Sluice with --mode regular as well.")
    }

    private func untilCancelled<Value: Sendable>(
        since begun: Int,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await work() }
            group.addTask { [self] in
                while cancellations.load(ordering: .relaxed) == begun, !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(50))
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            // After cancellation, the work still returns how far it came.
            return await group.next() ?? nil
        }
    }

    func openHold(_ id: String) {
        control { [self] control in
            let hold = try await control.hold(id)
            let title = "Held \(hold.summary.side) of \(hold.summary.method) \(hold.summary.url)"
            let remark = "ctrl-s sends this text; esc keeps the message waiting."
            open(EditorState(purpose: .hold(id), title: title, area: TextArea(hold.draft), remark: remark))
        }
    }

    func editHold(_ id: String, _ change: HoldChange) {
        control { [self] control in
            do {
                _ = try await control.editHold(id, try change.edit())
                inbox.answer { $0.take(answerTo: .hold(id), refusal: nil) }
                say("Sent with your edits.")
            } catch {
                let reason = Self.words(error)
                inbox.answer { $0.take(answerTo: .hold(id), refusal: reason) }
            }
        }
    }

    func decide(_ ids: [String], _ decision: HoldDecision) {
        control { [self] control in
            let count = try await control.decide(ids, decision).decided.count
            let words =
                switch decision {
                case .execute: "executed"
                case .cancel: "released unmodified"
                case .abort: "aborted"
                }
            guard count > 0 else { throw ConsoleError("It is no longer held.") }
            say(count == 1 ? "The message is \(words)." : "\(count) messages are \(words).")
        }
    }
}

enum RepeatText {
    static func brief(_ progress: RepeatProgress) -> String {
        "sent \(progress.done) of \(progress.total), p50 \(Measures.duration(progress.p50))"
            + (progress.failures > 0 ? ", \(progress.failures) failed" : "")
    }

    static func report(_ progress: RepeatProgress, _ request: ComposedRequest) -> DetailDocument {
        func line(_ label: String, _ value: String, _ role: Role = .text) -> DetailLine {
            DetailLine([Span("\(label) ".filled(to: 12), .label), Span(value, role)])
        }
        var lines = [
            line("request", "\(request.method) \(request.url)"), line("sent", "\(progress.done) of \(progress.total)"),
            line("failed", "\(progress.failures)", progress.failures > 0 ? .failure : .success),
        ]
        if let failure = progress.firstFailure { lines.append(line("first", failure, .failure)) }
        lines += progress.statuses.sorted { $0.key < $1.key }.map { status, count in
            line("status \(status)", "\(count)", status >= 400 ? .clientError : .success)
        }
        lines += [("p50", progress.p50), ("p95", progress.p95), ("max", progress.max)].map { name, time in
            line(name, Measures.duration(time))
        }
        return DetailDocument(lines: lines)
    }
}

/// Requests that a user types or pastes: `[METHOD] URL`, or a cURL command.
enum RequestWords {
    static let remark = "Start line, headers, an empty line, the body. Content-Length is set automatically."

    static func isRequest(_ text: String) -> Bool {
        let word = text.prefix { !$0.isWhitespace }.lowercased()
        let isURL = word.hasPrefix("http://") || word.hasPrefix("https://")
        return ["curl", "curl.exe"].contains(word) || isURL && !text.contains { $0.isWhitespace }
    }

    static func trimmed(_ text: String) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    static func request(_ text: String) throws -> ComposedRequest {
        if CurlCommandReader.isCommand(text) { return try curl(text) }
        let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard words.count <= 2 else {
            throw ConsoleError("Expected a method and a URL, or a cURL command; '\(words[2].prefix(40))' is too much.")
        }
        let method = words.count > 1 ? words[0].uppercased() : "GET"
        let url = words.last ?? "http://localhost/"
        // A URL without a scheme means http, as in curl.
        let whole = url.contains("://") ? url : "http://\(url)"
        let hasBody = ["POST", "PUT", "PATCH"].contains(method)
        let fields = "Accept: */*\n" + (hasBody ? "Content-Type: application/json\n" : "")
        return try ComposedRequest(draft: "\(method) \(whole) HTTP/1.1\n\(fields)\n", original: nil)
    }

    private static func curl(_ text: String) throws -> ComposedRequest {
        let command = try CurlCommandReader.read(text)
        let body = try command.body {
            try InputFile.contents(of: HomeDirectory.expanding($0), atMost: EffectRunner.longestBody)
        }
        let fields = command.fields.map { ($0.name, $0.value) }
        let bytes = ByteBuffer(bytes: body)
        return try ComposedRequest(method: command.method, url: command.url, fields: fields, body: bytes)
    }

    /// The ignored parts of a cURL command, in a sentence; empty if nothing was ignored.
    static func omissions(_ text: String) -> String {
        guard let remarks = try? CurlCommandReader.read(text).remarks, !remarks.isEmpty else { return "" }
        return " Ignored: \(remarks.joined(separator: "; "))."
    }
}
