import ExchangeCore
import HTTPModel
import Rules

extension RuleAnswer {
    /// In bytes.
    private static let longestBody = 1e12

    static let keys = [
        GrammarKey("status", .number(200...599, unit: ""), example: "503", fallback: "200")
            .means("The status of the answer; that of FILE.headers for a file."),
        GrammarKey("headers", .names(.list(.text)), example: "{ Retry-After: \"5\" }", fallback: "Content-Type")
            .means("Headers of the answer; an empty value removes one."),
        GrammarKey("json", .text, fallback: "no body").example("{ error: busy }")
            .means("The body: a value of any type, sent as JSON."),
        GrammarKey("body", .text, example: "busy", fallback: "no body").means("The body as text."),
        GrammarKey("file", .path, example: "busy.json", fallback: "no body").means(
            "A file with the body; on-miss decides if it does not exist. With values it is in the folder before the first."
        ),
        GrammarKey("delay", Delay.value, example: "200ms", fallback: "0")
            .means("The time before the answer, also as 100ms..800ms."),
        GrammarKey("end", .choice(End.allCases.map(\.rawValue)), example: "cut", fallback: "a whole answer").means(
            "Ends the answer early: no more bytes for an hour (hang), a closed connection (cut), or a TCP reset. Without "
                + "status and body nothing is sent."
        ),
        GrammarKey("end-at", .number(0...longestBody, unit: "bytes"), example: "100", fallback: "0")
            .means("After how many bytes of the body 'end' acts; after the head if 0."),
    ]

    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "an answer", keys: RuleAnswer.keys) else { return nil }
        status = reader.integer(fields, "status")
        if status == 205, let node = fields["status"] { reader.lint(ResponseHead.resetContentLint, at: node) }
        let bodies = ["json", "body", "file"].filter { fields[$0] != nil }
        if bodies.count > 1 {
            reader.error("'\(bodies[0])' and '\(bodies[1])' exclude each other; remove one", at: node)
        }
        var content = Content?.some(.none)
        if let node = fields["json"] {
            content = JSONTemplate(node, "json", &reader).map { .json($0) }
        } else if let node = fields["body"] {
            content = ValueTemplate(node, "body", &reader).map { .text($0) }
        } else if let node = fields["file"] {
            content = AnswerPath(node, &reader).map { .file($0) }
        }
        self.fields = fields["headers"].map { RuleAnswer.headers($0, &reader) } ?? []
        delay = reader.delay(fields, "delay")
        let after = reader.integer(fields, "end-at")
        let way = fields["end"].flatMap { reader.choice($0, "end", End.allCases.map { ($0.rawValue, $0) }) }
        if let node = fields["end-at"], fields["end"] == nil {
            reader.error("'end-at' needs 'end': hang, cut or reset", at: node)
        }
        let isEmpty = bodies.isEmpty && status == nil
        if let node = fields["end-at"], isEmpty {
            reader.error("'end-at' needs a body: without 'status' and body nothing is sent", at: node)
        }
        if isEmpty, way == nil, fields["headers"] == nil {
            reader.lint("the answer is an empty 200; 'status', 'json', 'body' or 'file' say more", at: node)
        }
        end = way.map { ($0, isEmpty ? nil : after ?? 0) }
        guard let content else { return nil }
        self.content = content
        if let node = fields["end-at"], case .text(let text) = content, let body = text.constant,
            let after, after >= body.utf8.count
        {
            reader.lint("the body has \(body.utf8.count) bytes, so the client gets all of it", at: node)
        }
    }

    private static func headers(_ node: Node, _ reader: inout ProfileReader) -> [(name: String, value: ValueTemplate)] {
        var headers: [(name: String, value: ValueTemplate)] = []
        for (name, node) in reader.pairs(node, "headers") {
            for entry in node.members {
                guard let value = ValueTemplate(entry, name, &reader) else { continue }
                let problem = Sidecar.problem(name: name, value: value.constant ?? "")
                if let problem { reader.error("headers \(problem)", at: entry) }
                headers.append((name, value))
            }
        }
        return headers
    }

    /// For lists of rules: `503`, `pass`, `no answer`.
    fileprivate var action: String { end != nil && endAtOnce != nil ? "no answer" : "\(status ?? 200)" }
}

extension AnswerSequence {
    static let pass = GrammarValue.choice(["pass"])
    private static let mostAnswers = 1_000

    static let keys = [
        GrammarKey("answer", .mapping(RuleAnswer.keys), fallback: "from 'to'")
            .example("{ status: 503, headers: { Retry-After: \"5\" }, json: { error: busy } }")
            .means("The answer, without a file."),
        GrammarKey("answers", .list(.either(.mapping(RuleAnswer.keys), pass)), fallback: "from 'to'")
            .example("[ { status: 503 }, { status: 200, body: ok }, pass ]")
            .means("Answers in turn, in the order in which requests arrive; 'pass' lets the server answer."),
        GrammarKey("at-end", .choice(AtEnd.allCases.map(\.rawValue)), example: "repeat", fallback: "stay").means(
            "After the last answer: give it again (stay), begin with the first (repeat), or let the server answer (pass)."
        ),
        GrammarKey("count-by", .choice(Key.allCases.map(\.rawValue)), example: "url", fallback: "all together")
            .means("Counts the requests of each URL or client address separately; at most 10,000 of them."),
    ]

    /// `nil` if the rule has no answers that can be used.
    init?(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) {
        let atEnd = fields["at-end"].flatMap { reader.choice($0, "at-end", AtEnd.allCases.map { ($0.rawValue, $0) }) }
        let key = fields["count-by"].flatMap { reader.choice($0, "count-by", Key.allCases.map { ($0.rawValue, $0) }) }
        let found = ["to", "answer", "answers"].filter { fields[$0] != nil }
        guard let kind = found.last, kind != "to", let node = fields[kind] else {
            for key in ["at-end", "count-by"] {
                if let node = fields[key] { reader.error("'\(key)' needs 'answer' or 'answers'", at: node) }
            }
            return nil
        }
        if found.count > 1 {
            reader.error("'\(found[0])' and '\(kind)' exclude each other; remove one", at: fields.node)
        }
        for key in ["status", "headers"] {
            if let node = fields[key] { reader.error("'\(key)' belongs inside the answer", at: node) }
        }
        for key in ["index", "case-sensitive"] {
            if let node = fields[key] { reader.lint("'\(key)' has no effect without 'to'", at: node) }
        }
        let members = kind == "answer" ? [node] : node.members
        if members.isEmpty || members.count > AnswerSequence.mostAnswers {
            reader.error("answers needs from 1 to \(AnswerSequence.mostAnswers) answers", at: node)
        }
        let turns = members.compactMap { member -> RuleAnswer?? in
            if kind == "answers", member.string == "pass" { return .some(nil) }
            return RuleAnswer(member, &reader).map { .some($0) }
        }
        guard !turns.isEmpty else { return nil }
        (self.turns, self.key, counter) = (turns, key, KeyCounter())
        self.atEnd = atEnd ?? .stay
        if isCounted, heading.scope.methods.isEmpty {
            reader.lint("a CORS preflight (OPTIONS) uses up an answer, too; add 'method' to exclude it", at: node)
        }
    }

    /// For lists of rules: `answer 503, 200, pass`.
    var action: String {
        let shown = turns.prefix(5).map { $0?.action ?? "pass" } + (turns.count > 5 ? ["…"] : [])
        return "answer \(shown.joined(separator: ", "))"
    }
}

extension MapLocal {
    static let agentUse = AgentUse { rule, _ in
        if let to = rule["to"] { return (to, "rules of an agent read no files; use 'answer'") }
        let answers = (rule["answers"]?.members ?? []) + (rule["answer"].map { [$0] } ?? [])
        return answers.lazy.compactMap { $0["file"] }.first.map {
            ($0, "rules of an agent read no files; use 'body' or 'json'")
        }
    }
}
