import Description
import Formats
import Foundation
package import HTTPModel
package import Jobs
package import NIOCore
package import ProxyServer
import Recording
package import Rules
import Synchronization
import Text

/// Answers requests from a recorded session, in the recorded order, with responses as received from the server, so that
/// rules act on them once. Requests are compared as sent; if nothing was sent, as received.
package final class Replay: RecordedAnswers {
    package struct Options: Sendable {
        package var rules = ReplayRules()
        /// Each answer only once, whatever the rules say.
        package var givesOnce = false
        /// Dates are moved by the time since the recording.
        package var refreshesDates = false
        /// The factor for recorded delays; `nil` is no delay.
        package var timing: Double?

        package init() {}
    }

    let index: ReplayIndex
    let matching: ComparedRequest.Matching
    private let options: Options
    private let recording: String
    private let choosesNothing: Bool
    /// Several readers, so that one long body does not delay other answers.
    private let readers: [SessionReader]
    private let nextReader = Atomic(0)
    private let progress: Mutex<Progress>

    private struct Progress {
        var isGiven: [Bool]
        /// The index of the first answer that was not given yet.
        var next: [Fingerprint: Int] = [:]
        /// The entry of the last answer.
        var last: [Fingerprint: Int32] = [:]
        var answers = 0
        var misses = 0
        var firstMisses: [ReplayMiss] = []
        var missPlaces: [String: Int] = [:]
    }

    private static let mostMisses = 100
    private static let readerCount = 4

    /// Throws `StartError` for a wrong filter or another kind of file, `SessionError` or `FileError` if unreadable.
    package init(_ session: String, filter: String = "", options: Options = Options()) throws {
        let chosen = try SessionQuery.filter(filter)
        recording = try SessionQuery.path(session)
        readers = try Replay.readers(recording)
        self.options = options
        matching = ComparedRequest.Matching(options.rules)
        var numbers: Set<Int64>?
        if !filter.allSatisfy(\.isWhitespace) {
            var found: Set<Int64> = []
            try readers[0].forEachNumbers(matching: chosen) { found.formUnion($0) }
            numbers = found
        }
        choosesNothing = numbers?.isEmpty ?? false
        index = try ReplayIndex(readers[0], numbers: numbers, rules: options.rules, matching: matching)
        progress = Mutex(Progress(isGiven: Array(repeating: false, count: index.entries.count)))
    }

    private static func readers(_ path: String) throws -> [SessionReader] {
        guard try ArchiveFile.isArchive(path) else {
            let first = try SessionQuery.open(path)
            return try [first] + (1..<readerCount).map { _ in try SessionReader(path: path) }
        }
        let archive = try ImportedArchive(path)
        defer { archive.remove() }
        return try (0..<readerCount).map { _ in try SessionReader(path: archive.session) }
    }

    private var reader: SessionReader {
        readers[nextReader.wrappingAdd(1, ordering: .relaxed).oldValue & (Replay.readerCount - 1)]
    }

    /// Why there is no answer at all.
    package var problem: StartError? {
        guard index.count == 0 else { return nil }
        guard !choosesNothing else { return .nothingFits(recording) }
        return StartError("\(recording) has no answers\(leftOut).", hint: "See sluice list \(recording)")
    }

    private var leftOut: String {
        let left = ReplayIndex.LeftOut.allCases.compactMap { reason in index.leftOut[reason].map { reason.counted($0) }
        }
        return left.isEmpty ? "" : "; left out: \(left.joined(separator: ", "))"
    }

    package func isRecording(_ path: String) -> Bool {
        func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        return real(path) == real(recording)
    }

    // MARK: - Finding

    private var givesOnce: Bool { options.givesOnce || options.rules.afterLast == .miss }

    func compared(_ request: AskedRequest) -> ComparedRequest {
        ComparedRequest(request.head.method, request.url, request.head.fields, request.body, matching)
    }

    package func find(_ request: AskedRequest) -> ExchangeID? {
        let fingerprint = compared(request).fingerprints.all
        let met = AnswerCondition.met(by: request.head.fields)
        if let answers = index.answers[fingerprint] {
            return progress.withLock { choose(answers, fingerprint, met, &$0, takes: true) }
        }
        // RFC 9110 §9.3.2: a HEAD uses the next GET, without its body and without using it up.
        guard request.head.method == "HEAD" else { return nil }
        var got = request
        got.head.method = "GET"
        let get = compared(got).fingerprints.all
        guard let answers = index.answers[get] else { return nil }
        return progress.withLock { choose(answers, get, met, &$0, takes: false) }
    }

    private func choose(
        _ answers: [Int32],
        _ fingerprint: Fingerprint,
        _ met: Set<Fingerprint>,
        _ progress: inout Progress,
        takes: Bool
    ) -> ExchangeID? {
        func answersThis(_ number: Int32) -> Bool {
            index.entries[Int(number)].condition.map { met.contains($0) } ?? true
        }
        var place = progress.next[fingerprint] ?? 0
        while place < answers.count, progress.isGiven[Int(answers[place])] { place += 1 }
        if takes { progress.next[fingerprint] = place }
        var found = answers[place...].first { !progress.isGiven[Int($0)] && answersThis($0) }
        if found == nil, !givesOnce {
            let last = progress.last[fingerprint].flatMap { answersThis($0) ? $0 : nil }
            found = last ?? answers.last(where: answersThis)
        }
        guard let found else { return nil }
        if takes {
            progress.isGiven[Int(found)] = true
            progress.last[fingerprint] = found
        }
        progress.answers += 1
        return ExchangeID(index.entries[Int(found)].id)
    }

    // MARK: - Answers

    package func open(_ id: ExchangeID, for request: AskedRequest) throws -> RecordedAnswer {
        let reader = reader
        guard let (exchange, short) = try reader.answer(of: id), let bytes = exchange.messages.responseHead,
            var head = StoredHead.response(bytes)
        else { throw ExchangeFailure(.notRecorded, "Exchange \(id) is no longer in the recording.") }
        let record = exchange.record
        head.fields.removePseudoFields()
        if options.refreshesDates {
            let moment = Date()
            RefreshedDates.move(&head.fields, by: Int64(moment.timeIntervalSince1970) - record.startedAt / 1_000_000)
        }
        // An import may have HTTP/3, which Sluice does not speak.
        if head.version > .http2 { head.version = .http2 }
        if head.isChanged, let changed = StoredHead.response(head.serialized()) { head = changed }
        let size = try short.map { Int64($0.readableBytes) } ?? reader.bodySize(of: id, side: .responseReceived) ?? 0
        var answer = RecordedAnswer(exchange: id, head: head, bodySize: size)
        answer.trailers = exchange.messages.responseTrailers.map { StoredHead.fields($0) }
        answer.notes = notes(exchange, head, request)
        if let timing = options.timing {
            try RecordedPace(exchange: exchange, reader: reader, bodySize: size, factor: timing).set(&answer)
        } else if request.head.method != "HEAD", size > 0 {
            answer.beginning =
                try short ?? reader.body(of: id, side: .responseReceived, limit: RecordedAnswer.pieceSize)
        }
        return answer
    }

    private func notes(_ exchange: RecordedExchange, _ head: ResponseHead, _ request: AskedRequest) -> [String] {
        let id = exchange.record.id
        var notes = ["answered from the recording: exchange \(id)"]
        let recorded = exchange.messages.requestHeadSent ?? exchange.messages.requestHead
        guard let fields = recorded.flatMap({ StoredHead.request($0)?.fields }) else { return notes }
        if exchange.record.method == "GET", request.head.method == "HEAD" {
            notes = ["answered from the recording: the head of exchange \(id), a GET"]
        }
        let names = head.fields.values(of: "vary").flatMap { $0.split(separator: ",") }
            .map { FieldName($0.trimmingCharacters(in: .whitespaces).lowercased()) }
        let others = names.filter { fields.value(of: $0) != request.head.fields.value(of: $0) }
        if !others.isEmpty {
            let list = others.map(\.lowercased).joined(separator: ", ")
            notes.append("the server says that its answer varies by \(list), which was another when it was recorded")
        }
        return notes
    }

    package func body(of exchange: ExchangeID, offset: Int64, limit: Int) throws -> ByteBuffer {
        try reader.body(of: exchange, side: .responseReceived, offset: offset, limit: limit)
    }

    // MARK: - Misses

    package func explainMiss(_ request: AskedRequest) -> ExchangeFailure {
        let miss: ReplayMiss
        do {
            miss = try ReplayMiss(request, in: self, reader)
        } catch {
            miss = ReplayMiss(request, "The recording cannot be read: \(error)")
        }
        count(miss)
        return miss.failure
    }

    package func explainRefusal(of authority: String) -> ExchangeFailure {
        let failure = ExchangeFailure.noConnection(authority)
        count(ReplayMiss(failure, "CONNECT \(authority): \(failure.message)"))
        return failure
    }

    private func count(_ miss: ReplayMiss) {
        progress.withLock { progress in
            progress.misses += 1
            if let place = progress.missPlaces[miss.text] {
                progress.firstMisses[place].count += 1
            } else if progress.firstMisses.count < Replay.mostMisses {
                progress.missPlaces[miss.text] = progress.firstMisses.count
                progress.firstMisses.append(miss)
            }
        }
    }

    package var opening: String {
        let count = index.count
        var text = "sluice: replaying \(recording): \(count.of("answer")) to \(index.answers.count.of("request"))"
        text += "\(leftOut)\n"
        if index.masked > 0 {
            text += "sluice: \(index.masked.of("answer")) with secrets masked when the recording was exported\n"
        }
        return text
    }

    package var misses: Int { progress.withLock { $0.misses } }

    package var summary: String {
        let (answers, misses, first, given) = progress.withLock { progress in
            (progress.answers, progress.misses, progress.firstMisses, progress.isGiven.count { $0 })
        }
        let unused = index.count - given
        var text = "sluice: replay: \(answers.of("answer")) from \(given.of("recorded exchange"))"
        text += misses == 0 ? ", no misses" : ", \(misses.grouped) miss\(misses == 1 ? "" : "es")"
        text +=
            unused > 0
            ? "; \(unused) recorded \(unused == 1 ? "exchange was" : "exchanges were") not asked for\n" : "\n"
        for miss in first.prefix(Replay.mostTold) {
            text += "sluice: miss: \(miss.text)\(miss.count > 1 ? " (\(miss.count) times)" : "")\n"
        }
        if first.count > Replay.mostTold {
            let rest = first.count - Replay.mostTold
            text += "sluice: and \(rest)\(first.count == Replay.mostMisses ? " or more" : "") others\n"
        }
        return text
    }

    private static let mostTold = 20
}
