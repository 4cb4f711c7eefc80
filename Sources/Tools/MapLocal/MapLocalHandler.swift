import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Text

/// Asks the matching rules of one request one after the other for its answer.
final class MapLocalHandler: StageHandler {
    private let opening: ExchangeOpening
    private var matches: ArraySlice<RuleMatch<MapLocal.Rule>>
    /// Its delay has begun.
    private var waiting: Turn?

    private struct Turn {
        let answer: RuleAnswer
        let match: RuleMatch<MapLocal.Rule>
        /// For the trace: `answer 2 of 3, after 100 ms`; may be empty.
        let words: String
    }

    init(_ matches: [RuleMatch<MapLocal.Rule>], _ opening: ExchangeOpening) {
        (self.matches, self.opening) = (matches[...], opening)
    }

    /// Called again when a delay is over, and if a rule found no file and leaves the request to others.
    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        if let turn = waiting { return answer(turn, head, &exchange) }
        while let match = matches.popFirst() {
            let (rule, name) = (match.rule, match.rule.heading.name)
            let draw = rule.chance?.draw(opening)
            if let draw, !draw.isHit {
                exchange.note("\(name): \(draw.text), so \(matches.isEmpty ? "it passed" : "the next rule was asked")")
                continue
            }
            guard let answers = rule.answers else {
                return rule.files.map { lookUp($0, match, head, exchange) } ?? .forward
            }
            let (number, answer) = answers.next(opening)
            guard let answer else {
                exchange.note("\(name): answer \(number) is pass; the request went on to the server")
                return .forward
            }
            return begin(answer, number, match, draw, head, &exchange)
        }
        return .forward
    }

    private func begin(
        _ answer: RuleAnswer,
        _ number: Int,
        _ match: RuleMatch<MapLocal.Rule>,
        _ draw: RuleChance.Draw?,
        _ head: RequestHead,
        _ exchange: inout StageExchange
    ) -> Verdict {
        var words = match.rule.answers?.isCounted == true ? ", answer \(number)" : ""
        if let draw, match.rule.leavesToOthers { words += ", as \(draw.text)" }
        guard let delay = answer.delay, !delay.isZero else {
            return self.answer(Turn(answer: answer, match: match, words: words), head, &exchange)
        }
        let time = draw?.time(delay) ?? delay.drawn { _ in 0 }
        words += ", after \(Int64(time.rounded())) ms"
        waiting = Turn(answer: answer, match: match, words: words)
        return .pause(.again(at: exchange.now + .nanoseconds(Int64(time * 1e6))))
    }

    private func answer(_ turn: Turn, _ head: RequestHead, _ exchange: inout StageExchange) -> Verdict {
        let name = turn.match.rule.heading.name
        if let way = turn.answer.endAtOnce {
            exchange.fired(rule: name, "no answer: \(way.words)\(turn.words)")
            var answer = LocalAnswer(head: ResponseHead(status: 200))
            answer.end = turn.answer.end(of: name)
            return .respond(answer)
        }
        do throws(ValueError) {
            let context = ValueContext(opening, turn.match)
            let filled = try turn.answer.fields(context)
            if let wrong = filled.first(where: { !$0.value.text.isFieldValue }) {
                let value = wrong.value.shown.clipped(to: 40)
                exchange.note("\(name): \(wrong.name) would have a control character in '\(value)'; it did nothing")
                return .forward
            }
            let fields = filled.map { ($0.name, $0.value.text) }
            let end = turn.answer.end.map { ", then \($0.way.words) after \(($0.after ?? 0).grouped) bytes" } ?? ""
            let words = turn.words + end
            if case .file(let path) = turn.answer.content {
                let source = try path.source(context, turn.match.rule, turn.answer, fields)
                return lookUp(source, turn.match, head, exchange, words, turn.answer.end(of: name))
            }
            var answer = try turn.answer.answer(context, fields)
            answer.end = turn.answer.end(of: name)
            let size = answer.body.readableBytes
            exchange.fired(rule: name, "answered \(answer.head.status) (\(size.grouped) bytes)\(words)")
            return .respond(answer)
        } catch {
            exchange.note("\(name): \(error); it did nothing")
            return .forward
        }
    }

    private func lookUp(
        _ source: FileSource,
        _ match: RuleMatch<MapLocal.Rule>,
        _ head: RequestHead,
        _ exchange: StageExchange,
        _ words: String = "",
        _ end: AnswerEnd? = nil
    ) -> Verdict {
        waiting = nil
        let isLast = source.onMiss != .next || matches.isEmpty
        let lookUp = FileLookUp(source, match, isLast: isLast, head: head, url: exchange.url)
        return .work {
            var outcome = lookUp.run()
            switch outcome.verdict {
            case .respond(var answer):
                answer.end = end
                outcome.verdict = .respond(answer)
                if !outcome.trace.isEmpty { outcome.trace[0].text += words }
            case .forward where !isLast: outcome.verdict = .pause(.again(at: .now()))
            default: break
            }
            return outcome
        }
    }
}

extension RuleAnswer.End {
    var words: String {
        switch self {
        case .hang: "the connection hangs"
        case .cut: "the connection is cut"
        case .reset: "the connection is reset"
        }
    }
}
