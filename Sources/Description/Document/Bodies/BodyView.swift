import Content
import HTTPModel
import NIOCore
import Text

/// A body, shown by its type.
struct BodyView {
    /// How deep multipart bodies inside multipart bodies are shown.
    private static let deepestPart = 3

    let body: LoadedBody
    var depth = 0
    /// Whether it answers a GraphQL request, so that its errors come first.
    var isAnswer = false
    var place: Place?

    func write(into writer: inout DetailWriter) {
        if let failure = body.failure { writer.add("The body cannot be read: \(failure)", .failure) }
        if let problem = body.problem {
            writer.add("\(problem.kind == .notCoded ? "Not decoded" : "Not decoded in whole"): \(problem)", .warning)
        }
        guard body.bytes.readableBytes > 0 else { return }
        switch writer.options.bodyForm {
        case .hex, .wire: HexLayout(bytes: body.bytes).write(into: &writer)
        case .raw: raw(&writer)
        case .pretty: pretty(&writer)
        }
        if body.isCut {
            let looked = Measures.size(Int64(body.bytes.readableBytes))
            let whole = Measures.size(body.recordedSize)
            let coded = body.codings.isEmpty ? "" : " recorded with its content coding"
            let way = writer.options.isPrinted ? "--body prints it whole" : "the command save-body writes it whole"
            writer.leaveOut("Only the first \(looked) of the body are shown (\(whole)\(coded)); \(way).")
        }
    }

    private func raw(_ writer: inout DetailWriter) {
        guard let text = body.text else { return HexLayout(bytes: body.bytes).write(into: &writer) }
        notes(text.notes, &writer)
        TextLayout.write(text.text, showsReturns: true, into: &writer)
    }

    private func notes(_ notes: [String], _ writer: inout DetailWriter) {
        for note in notes { writer.add("(\(note))", .faint) }
    }

    private func pretty(_ writer: inout DetailWriter) {
        let longest = writer.longestLine
        if !writer.options.isPrinted { writer.longestLine = DetailWriter.longestLaidOut }
        defer { writer.longestLine = longest }
        if let header = ImageHeader(body.bytes) {
            return ImageView(header: header, body: body).write(into: &writer)
        }
        if let type = body.mediaType, type.type == "multipart", let parts = Multipart(body.bytes, mediaType: type) {
            return multipart(parts, &writer)
        }
        if let type = body.mediaType, BodyView.protobufTypes.contains(type.essence), body.problem == nil {
            return protobuf(&writer)
        }
        guard let (text, notes) = body.text else {
            writer.add("(\(body.binaryDescription))", .faint)
            return writer.options.isPrinted ? () : HexLayout(bytes: body.bytes).write(into: &writer)
        }
        self.notes(notes, &writer)
        switch BodyView.format(body.mediaType, text) {
        case .json: json(text, &writer)
        case .jsonLines: jsonLines(text, &writer)
        case .form: FormTable(text, at: place.map { Place($0.asReceived.root, .form) }).write(into: &writer)
        case .markup(let isHTML):
            var layout = MarkupLayout(Array(text.utf8), isHTML: isHTML)
            layout.write(into: &writer)
        case .styleSheet: StyleSheetLayout(Array(text.utf8)).write(into: &writer)
        case .script: ScriptLayout(Array(text.utf8)).write(into: &writer)
        case .graphQL:
            if let operation = GraphQLOperation.inDocument(text) {
                GraphQLView(operation).write(into: &writer)
            } else {
                ScriptLayout(Array(text.utf8), language: .graphQL).write(into: &writer)
            }
        case .plain: TextLayout.write(text, into: &writer)
        }
    }

    private enum Format {
        case json, jsonLines, form, styleSheet, script, graphQL, plain
        case markup(isHTML: Bool)
    }

    private static let protobufTypes: Set<String> = [
        "application/protobuf", "application/x-protobuf", "application/vnd.google.protobuf",
    ]
    private static let scriptTypes: Set<String> = [
        "application/javascript", "text/javascript", "application/ecmascript", "application/x-javascript",
        "text/ecmascript", "application/typescript", "text/jsx",
    ]

    private static func format(_ type: MediaType?, _ text: String) -> Format {
        guard let type else { return sniffed(text) }
        if type.isJSON { return .json }
        if StreamCounter.Format(mediaType: type.essence) == .jsonLines { return .jsonLines }
        if type.essence == "text/html" || type.essence == "application/xhtml+xml" { return .markup(isHTML: true) }
        if type.isXML { return .markup(isHTML: false) }
        if scriptTypes.contains(type.essence) { return .script }
        switch type.essence {
        case "application/x-www-form-urlencoded": return .form
        case "text/css": return .styleSheet
        case "application/graphql": return .graphQL
        case "text/plain", "application/octet-stream": return sniffed(text)
        default: return .plain
        }
    }

    private static func sniffed(_ text: String) -> Format {
        let start = text.utf8.prefix(256).drop { $0 <= 0x20 }
        switch start.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
        case UInt8(ascii: "<"):
            let beginning = String(decoding: start.prefix(14), as: UTF8.self).lowercased()
            if beginning.hasPrefix("<!doctype html") || beginning.hasPrefix("<html") { return .markup(isHTML: true) }
            return beginning.hasPrefix("<?xml") ? .markup(isHTML: false) : .plain
        default: return .plain
        }
    }

    private func json(_ text: String, _ writer: inout DetailWriter) {
        let bytes = Array(text.utf8)
        if body.mediaType?.isJSON == true, depth == 0 {
            for operation in GraphQLOperation.inJSON(bytes) { GraphQLView(operation).write(into: &writer) }
            if isAnswer { GraphQLView.errors(bytes, into: &writer) }
        }
        guard let error = writer.json(bytes, isCut: body.isCut, at: place) else { return }
        guard body.mediaType?.isJSON == true else { return TextLayout.write(text, into: &writer) }
        writer.add("Not valid JSON, so shown as it came: \(error)", .failure)
        invalid(bytes, error, &writer)
    }

    /// A text with its faulty line marked.
    private func invalid(_ bytes: [UInt8], _ error: JSONSyntaxError, _ writer: inout DetailWriter) {
        let place = min(error.offset, bytes.count)
        let start = bytes[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let end = bytes[place...].firstIndex(of: 0x0A) ?? bytes.count
        TextLayout.write(String(decoding: bytes[..<start], as: UTF8.self), into: &writer)
        let before = String(decoding: bytes[start..<place], as: UTF8.self)
        let after = String(decoding: bytes[place..<end], as: UTF8.self)
        writer.add([
            Span(before.count > 200 ? "…" + String(before.suffix(200)) : VisibleText.expandingTabs(before)),
            Span(writer.sign("⟦here⟧", "[here]"), .failure), Span(VisibleText.expandingTabs(after)),
        ])
        TextLayout.write(String(decoding: bytes[min(end + 1, bytes.count)...], as: UTF8.self), into: &writer)
    }

    private func jsonLines(_ text: String, _ writer: inout DetailWriter) {
        for (index, line) in BodyView.texts(text).enumerated() where writer.takesMore() {
            if writer.json(line, isCut: body.isCut, at: place?.line(index + 1)) != nil {
                TextLayout.write(line.text(line.indices), role: .warning, into: &writer)
            }
        }
    }

    /// The JSON texts of a body with one text per line, or of a JSON text sequence.
    static func texts(_ text: String) -> [[UInt8]] {
        text.utf8.split { $0 == 0x0A || $0 == 0x1E }.filter { $0.contains { $0 > 0x20 } }.map { Array($0) }
    }

    private func protobuf(_ writer: inout DetailWriter) {
        let content = ProtobufContent.schemaless(body.bytes, isPartial: body.isCut)
        writer.add("(Protocol Buffers; no descriptor is known, so fields have numbers)", .faint)
        for line in content.lines { writer.add(line) }
        if let problem = content.problem { writer.add("Not all of it is Protocol Buffers: \(problem)", .warning) }
        if content.isCut { writer.leaveOut("Not all fields of the message are shown.") }
    }

    private func multipart(_ multipart: Multipart, _ writer: inout DetailWriter) {
        for (index, part) in multipart.parts.enumerated() where writer.takesMore() {
            let isLast = index == multipart.parts.count - 1
            let partBody = LoadedBody(part: part, isCut: body.isCut && isLast && !multipart.isComplete)
            let title = "Part \(index + 1)\(part.name.map { ": \($0)" } ?? "")"
            let notes = part.fileName.map { ["file \($0)"] } ?? []
            writer.section(title, notes: notes + partBody.facts) { writer in
                writer.table(part.fields)
                if depth < BodyView.deepestPart {
                    BodyView(body: partBody, depth: depth + 1).write(into: &writer)
                } else {
                    HexLayout(bytes: partBody.bytes).write(into: &writer)
                }
            }
        }
        if !multipart.isComplete, !body.isCut { writer.add("The closing delimiter is missing.", .warning) }
        if multipart.parts.isEmpty { raw(&writer) }
    }
}
