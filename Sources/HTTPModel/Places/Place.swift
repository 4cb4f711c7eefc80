/// The address of a value in an exchange: `req.header.accept`, `res.json.items[0].id`, `message#3.json.type`.
///
/// Equal places have the same text, and the text is read as the same place.
package struct Place: Sendable, Hashable {
    /// The message that has the value.
    package enum Root: Sendable, Hashable {
        /// The request as the client sent it, the response as the server or a local answer gave it.
        case request, response
        /// The request as the server got it, the response as the client got it.
        case sentRequest, sentResponse
        /// A message of a stream, counted from 1 in both directions.
        case message(Int)
        /// The operation that a request asks a GraphQL server for.
        case graphql
        /// The messages of a gRPC call.
        case grpc
    }

    /// The part of a message.
    package enum Part: String, Sendable, Hashable, CaseIterable {
        case method, url, host, path, status, body
        case header, trailer, cookie, query, form
        /// A part of a multipart body, by its name.
        case part
        case json, xml
        case operation, type, variables
        /// A field of a Protobuf message, below the root `grpc` without a word of its own.
        case field
    }

    /// A step into a value.
    package enum Step: Sendable, Hashable {
        case member(String)
        /// Counted from 0, from the end if negative.
        case element(Int)
        /// Any element or member.
        case any
    }

    package let root: Root
    package let part: Part
    /// For a named part its name and perhaps a number; for JSON, XML, variables and Protobuf the way down.
    package let steps: [Step]

    /// A place whose steps fit its part; names of header fields are kept in lower case, as they ignore it.
    package init(_ root: Root, _ part: Part, _ steps: [Step] = []) {
        (self.root, self.part) = (root, part)
        self.steps =
            part == .header || part == .trailer
            ? steps.map { if case .member(let name) = $0 { .member(name.lowercased()) } else { $0 } } : steps
    }

    /// The name of a header field, cookie, parameter, form field or part; `nil` for other parts.
    package var name: String? {
        guard part.form == .named, case .member(let name) = steps.first else { return nil }
        return name
    }
}

extension Collection where Index == Int {
    /// The index that `[n]` of a place means here: from 0, from the end if negative; `nil` if there are not so many.
    package func index(counted number: Int) -> Int? {
        let index = number < 0 ? endIndex + number : startIndex + number
        return indices.contains(index) ? index : nil
    }
}

extension Place.Part {
    enum Form {
        /// A value without a way down.
        case single
        /// A list of named values: a name, and perhaps which of several.
        case named
        /// A value with values in it.
        case tree
    }

    var form: Form {
        switch self {
        case .method, .url, .host, .path, .status, .body, .operation, .type: .single
        case .header, .trailer, .cookie, .query, .form, .part: .named
        case .json, .xml, .variables, .field: .tree
        }
    }

    /// Whether a message of this kind has it.
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

    /// The message of an exchange; `nil` for messages of streams and calls.
    package var side: BodySide? { Place.Root.sides.first { $0.root == self }?.side }

    package init(_ side: BodySide) { self = Place.Root.sides.first { $0.side == side }?.root ?? .request }
}

// MARK: - How it is written

extension Place: CustomStringConvertible {
    package var description: String {
        part == .field ? "grpc\(Place.written(steps))" : "\(root).\(part.rawValue)\(Place.written(steps))"
    }

    /// The way from a part, for example `.items[0]."odd name"`.
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

    /// A name as it is, or between quotation marks with the escapes of JSON if it has other characters than unquoted names.
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
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
