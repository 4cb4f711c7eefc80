struct FilterParser {
    private let expression: String
    private let clock: FilterClock
    private var lexer: FilterLexer
    private var token = FilterToken(kind: .end, column: 1)
    private var depth = 0

    init(_ expression: String, clock: FilterClock) {
        self.expression = expression
        self.clock = clock
        lexer = FilterLexer(expression)
    }

    mutating func parse() throws(FilterError) -> FilterNode {
        try advance()
        if token.kind == .end { return .everything }
        let node = try alternatives()
        if token.kind == .close { throw error("this parenthesis closes none") }
        return node
    }

    private mutating func advance() throws(FilterError) { token = try lexer.next() }

    private func error(_ message: String, _ suggestion: String? = nil) -> FilterError {
        FilterError(expression: expression, column: token.column, message: message, suggestion: suggestion)
    }

    private mutating func alternatives() throws(FilterError) -> FilterNode {
        var operands = [try conjunction()]
        while token.kind == .or {
            try advance()
            operands.append(try conjunction())
        }
        return .any(operands)
    }

    private mutating func conjunction() throws(FilterError) -> FilterNode {
        var operands = [try operand()]
        while true {
            switch token.kind {
            case .or, .close, .end: return .all(operands)
            case .and: try advance()
            default: break
            }
            operands.append(try operand())
        }
    }

    private mutating func operand() throws(FilterError) -> FilterNode {
        // A loop, because recursion over many `!` or `-` could overflow the stack.
        var isNegated = false
        while token.kind == .not {
            isNegated.toggle()
            try advance()
        }
        let node = try primary()
        return isNegated ? node.negated : node
    }

    private mutating func primary() throws(FilterError) -> FilterNode {
        let node: FilterNode
        switch token.kind {
        case .open:
            guard depth < Filter.maximumDepth else {
                throw error("parentheses are nested deeper than \(Filter.maximumDepth)")
            }
            let open = token
            depth += 1
            try advance()
            node = try alternatives()
            depth -= 1
            guard token.kind == .close else {
                token = open
                throw error("the parenthesis is not closed")
            }
        case .word(let text, let isBare): node = .term(try word(text, isBare: isBare))
        case .term(let key, let values): node = .term(try term(key, values))
        case .place(let place, let values): node = .term(try term(place, values))
        case .and, .or: throw error("a term is missing before the operator", "quote the word to search for it")
        case .close: throw error("a term is missing before the parenthesis")
        case .end: throw error("a term is missing at the end")
        case .not: throw error("a term is missing")
        }
        try advance()
        return node
    }

    private func word(_ text: FilterText, isBare: Bool) throws(FilterError) -> FilterTerm {
        if text.isEmpty { throw error("the search text is missing") }
        if isBare, text.plain == "error" { return FilterTerm(key: "is", tests: [.property(.fact(.error))]) }
        let reader = FilterValueReader(expression: expression, clock: clock, key: "")
        if isBare, let (key, value) = Filter.comparison(in: text.plain) {
            let term = "write \(key.name):\(value), or quote it to search the URL for it"
            let suggestion = value.isEmpty ? "for example \(key.example)" : term
            let place = key.name.unicodeScalars.count
            throw reader.error(text, at: place, "a colon is missing after '\(key.name)'", suggestion)
        }
        return FilterTerm(key: "", tests: [.matches(.url, .glob(try reader.glob(text, ignoringCase: true).unanchored))])
    }

    private func term(_ name: String, _ values: [FilterText]) throws(FilterError) -> FilterTerm {
        guard let key = Filter.key(name.lowercased()) else {
            let known = Filter.otherNames[name.lowercased()]
            let nearest = (known ?? Spelling.nearest(to: name, among: Filter.reference.map(\.name))).map {
                "did you mean '\($0)'?"
            }
            throw error("unknown key '\(name)'", nearest ?? "quote the text to search the URL for it")
        }
        let reader = FilterValueReader(expression: expression, clock: clock, key: key.name)
        var tests: [FilterTest] = []
        for value in values {
            if value.isEmpty {
                throw reader.error(value, "a value is missing for '\(key.name)'", "for example \(key.example)")
            }
            let test = try reader.test(value, key.reading)
            for test in [test, test.otherForm].compactMap(\.self) where key.name != "host" || !tests.contains(test) {
                tests.append(test)
            }
        }
        return FilterTerm(key: key.name, tests: tests)
    }

    private func term(_ place: Place, _ values: [FilterText]) throws(FilterError) -> FilterTerm {
        if place.root == .grpc {
            throw error("a filter cannot read gRPC messages", "use show --get \(place) --proto-descriptor FILE")
        }
        let reader = FilterValueReader(expression: expression, clock: clock, key: "\(place)")
        var tests: [FilterTest] = []
        for value in values {
            if value.isEmpty, !value.hasLiterals {
                let hint = "write * for any value, \"\" for an empty one"
                throw reader.error(value, "a value is missing for '\(place)'", hint)
            }
            tests.append(.place(try reader.test(value, at: place)))
        }
        return FilterTerm(key: "\(place)", tests: tests)
    }
}

extension Filter {
    static func key(_ name: String) -> FilterKey? { reference.first { $0.name == name } }

    /// The term meant by a word such as `status=404` or `time>1s`; `nil` if it may be part of a URL, like `page=2`.
    static func comparison(in word: String) -> (key: FilterKey, value: Substring)? {
        guard let sign = word.firstIndex(where: { "=<>".contains($0) }), let key = key(word[..<sign].lowercased()),
            word[sign] != "=" || ["host", "method", "size", "status"].contains(key.name)
        else { return nil }
        return (key, word[sign...].drop { $0 == "=" })
    }
}
