import Text

/// The address of a value in an exchange: `req.header.accept`, `res.json.items[0].id`, `message#3.json.type`. Equal
/// places have the same text.
package struct Place: Sendable, Hashable {
    package enum Root: Sendable, Hashable {
        /// The request as sent by the client; the response as sent by the server or answered locally.
        case request, response
        /// The request as received by the server; the response as received by the client.
        case sentRequest, sentResponse
        /// Of a stream, counted from 1 in both directions.
        case message(Int)
        case graphql
        case grpc
    }

    package enum Part: String, Sendable, Hashable, CaseIterable {
        case method, url, host, path, status, body
        case header, trailer, cookie, query, form
        case part
        case json, xml
        case operation, type, variables
        /// A Protobuf field; it follows the root `grpc` directly, without a word for the part.
        case field
    }

    package enum Step: Sendable, Hashable {
        case member(String)
        /// From 0; negative from the end.
        case element(Int)
        case any
    }

    package let root: Root
    package let part: Part
    /// The name of a named part and perhaps a number, or the path into a tree.
    package let steps: [Step]

    /// The steps must fit the part. Names of header fields become lower case.
    package init(_ root: Root, _ part: Part, _ steps: [Step] = []) {
        (self.root, self.part) = (root, part)
        self.steps =
            part == .header || part == .trailer
            ? steps.map { if case .member(let name) = $0 { .member(name.lowercased()) } else { $0 } } : steps
    }

    package var name: String? {
        guard part.form == .named, case .member(let name) = steps.first else { return nil }
        return name
    }
}

extension Collection where Index == Int {
    /// `number` counts from 0, or from the end if negative.
    package func index(counted number: Int) -> Int? {
        let index = number < 0 ? endIndex + number : startIndex + number
        return indices.contains(index) ? index : nil
    }
}

extension Place.Part {
    enum Form {
        case single
        /// Named values; a number chooses among equal names.
        case named
        case tree
    }

    var form: Form {
        switch self {
        case .method, .url, .host, .path, .status, .body, .operation, .type: .single
        case .header, .trailer, .cookie, .query, .form, .part: .named
        case .json, .xml, .variables, .field: .tree
        }
    }

    func isOf(_ root: Place.Root) -> Bool {
        switch root {
        case .request, .sentRequest: ![.status, .operation, .type, .variables, .field].contains(self)
        case .response, .sentResponse:
            [.status, .body, .header, .trailer, .cookie, .form, .part, .json, .xml].contains(self)
        case .message: [.body, .json, .xml].contains(self)
        case .graphql: [.operation, .type, .variables].contains(self)
        case .grpc: self == .field
        }
    }
}

extension Place.Root {
    private static let sides: [(root: Place.Root, side: BodySide)] = [
        (.request, .requestReceived), (.sentRequest, .requestSent), (.response, .responseReceived),
        (.sentResponse, .responseSent),
    ]

    /// The side of the exchange that has the value; `nil` for streams and calls.
    package var side: BodySide? { Place.Root.sides.first { $0.root == self }?.side }

    package init(_ side: BodySide) { self = Place.Root.sides.first { $0.side == side }?.root ?? .request }
}

extension Place: CustomStringConvertible {
    package var description: String {
        part == .field ? "grpc\(Place.written(steps))" : "\(root).\(part.rawValue)\(Place.written(steps))"
    }

    package static func written(_ steps: some Sequence<Step>) -> String { steps.map(\.description).joined() }
}

extension Place.Root: CustomStringConvertible {
    package var description: String {
        switch self {
        case .request: "req"
        case .response: "res"
        case .sentRequest: "sent.req"
        case .sentResponse: "sent.res"
        case .message(let number): "message#\(number)"
        case .graphql: "graphql"
        case .grpc: "grpc"
        }
    }
}

extension Place.Step: CustomStringConvertible {
    package var description: String {
        switch self {
        case .member(let name): "." + Place.Step.written(name)
        case .element(let number): "[\(number)]"
        case .any: "[*]"
        }
    }

    /// Quoted with the escapes of JSON if it has other characters than an unquoted name.
    private static func written(_ name: String) -> String {
        if !name.isEmpty, name.unicodeScalars.allSatisfy({ PlaceReader.isUnquoted($0) }) { return name }
        var text = "\""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            case _ where scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format:
                for unit in String(scalar).utf16 { text += "\\u" + unit.padded(to: 4, radix: 16) }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
