/// A tool that an agent may call. What it returns is an object; text from traffic stands only in members named
/// `untrusted`.
package struct AgentTool: Sendable {
    package struct Parameter: Sendable {
        package enum Kind: Sendable {
            /// At most so many characters.
            case text(Int)
            case integer(ClosedRange<Int64>)
            case choice([String])
            /// Names and values, as of header fields.
            case pairs
        }

        let name: String
        let kind: Kind
        let meaning: String
        var isRequired = false
    }

    /// What a call was given; its parameters were checked.
    package struct Arguments: Sendable {
        fileprivate let values: JSON

        func text(_ name: String) -> String? { values[name]?.string }
        func integer(_ name: String) -> Int64? { values[name]?.integer }
        func pairs(_ name: String) -> [(name: String, value: String)]? {
            values[name]?.array?.map { ($0["name"]?.string ?? "", $0["value"]?.string ?? "") }
        }
    }

    package let name: String
    let title: String
    let meaning: String
    let parameters: [Parameter]
    enum Effect { case reads, writesNewFiles, changesTraffic }

    var effect = Effect.reads
    let run: @Sendable (Arguments) async throws -> JSON

    /// As `tools/list` has it.
    package var description: JSON {
        let properties = Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0.schema) })
        let required = parameters.filter(\.isRequired).map { JSON.string($0.name) }
        return [
            "name": .string(name), "title": .string(title), "description": .string(meaning),
            "inputSchema": [
                "type": "object", "properties": .object(properties), "required": .array(required),
                "additionalProperties": false,
            ],
            "annotations": [
                "readOnlyHint": .bool(effect == .reads), "destructiveHint": .bool(effect == .changesTraffic),
                "openWorldHint": .bool(effect == .changesTraffic),
            ],
        ]
    }

    /// Checks the arguments and runs the tool; `wait` is the time until it may be called again.
    func call(_ arguments: JSON, refusedFor wait: Duration?) async -> [String: JSON] {
        do {
            if let wait {
                throw ToolError("Too many calls: at most ten a second. Try again in \(wait.milliseconds) ms.")
            }
            try check(arguments)
            let result = try await run(Arguments(values: arguments))
            return [
                "structuredContent": result, "content": [["type": "text", "text": .string(result.line)]],
                "isError": false,
            ]
        } catch {
            let text = "\(error)".prefix(4_000)
            return ["content": [["type": "text", "text": .string(String(text))]], "isError": true]
        }
    }

    private func check(_ arguments: JSON) throws(ToolError) {
        guard case .object(let members) = arguments else { return }
        for name in members.keys.sorted() where !parameters.contains(where: { $0.name == name }) {
            let known = parameters.map(\.name).joined(separator: ", ")
            throw ToolError("There is no parameter '\(name.prefix(40))'; there are: \(known).")
        }
        for parameter in parameters {
            switch members[parameter.name] {
            case nil, .null?:
                if parameter.isRequired { throw ToolError("'\(parameter.name)' is missing: \(parameter.meaning)") }
            case let value?:
                if let problem = parameter.problem(value) { throw ToolError("'\(parameter.name)' \(problem).") }
            }
        }
    }
}

/// Why a call failed, as a text for the agent.
struct ToolError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension AgentTool.Parameter {
    fileprivate var schema: JSON {
        let text: JSON = ["type": "string"]
        let own: [String: JSON] =
            switch kind {
            case .text(let most): ["type": "string", "maxLength": .integer(Int64(most))]
            case .integer(let range):
                ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
            case .choice(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
            case .pairs:
                [
                    "type": "array", "maxItems": 100,
                    "items": [
                        "type": "object", "properties": ["name": text, "value": text], "required": ["name", "value"],
                        "additionalProperties": false,
                    ],
                ]
            }
        return .object(own.merging(["description": .string(meaning)]) { first, _ in first })
    }

    fileprivate func problem(_ value: JSON) -> String? {
        switch kind {
        case .text(let most):
            guard let text = value.string else { return "must be a text" }
            return text.count > most ? "is longer than \(most) characters" : nil
        case .integer(let range):
            guard let number = value.integer, range.contains(number) else {
                return "must be an integer from \(range.lowerBound) to \(range.upperBound)"
            }
            return nil
        case .choice(let words):
            return words.contains(value.string ?? "") ? nil : "must be one of: \(words.joined(separator: ", "))"
        case .pairs:
            let isRight = value.array.map { pairs in
                pairs.count <= 100 && pairs.allSatisfy { $0["name"]?.string != nil && $0["value"]?.string != nil }
            }
            return isRight == true ? nil : "must be a list of at most 100 objects with 'name' and 'value'"
        }
    }
}

extension Duration {
    var milliseconds: Int64 { max(1, components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) }
}

extension String {
    /// The beginning, of at most so many bytes, with a mark if something is left out.
    func cut(to limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end] + "…"
    }
}
