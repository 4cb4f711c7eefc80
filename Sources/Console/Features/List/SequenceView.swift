import Clients
import Description
import HTTPModel
import Terminal
import Text

struct SequenceView {
    private typealias Words = (text: String, role: Role)

    let model: ConsoleModel

    func draw(in rect: Rect, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let arranged = ListColumns(model, width: rect.width)
        let (title, body) = rect.splitTop(1)
        drawTitles(arranged, in: title, on: &screen)
        let shown = min(body.height, model.list.total - model.list.bottom)
        guard shown > 0 else { return }
        let records = (model.list.bottom..<model.list.bottom + shown).compactMap { model.list.rows[$0] }
        let axis = TimeAxis(records, isLive: model.isLive)
        for row in 0..<shown {
            let index = model.list.bottom + shown - 1 - row
            let line = body.row(row)
            let record = model.list.rows[index]
            let isReading = model.context == .detail
            // The open exchange may be missing from the list.
            let isOther = isReading && record != nil && record?.id != model.detail.id
            let isSelected = index == model.list.selected && !isOther
            let selection = isReading ? theme.dimSelection : theme.selection
            let base = isSelected ? selection : background(record)
            screen.fill(line, style: base)
            guard let record else {
                screen.write("  …", x: line.x, y: line.y, style: base)
                continue
            }
            var x = line.x
            for column in arranged.drawn {
                let cell = cell(column, record, axis)
                let style = Self.merged(theme.style(cell.role), onto: base)
                let text = column.column.isRightAligned ? TextWidth.paddedLeft(cell.text, to: column.width) : cell.text
                let limit = min(column.width, line.maxX - x)
                screen.write(text, x: x, y: line.y, style: style, limit: limit)
                for (part, style) in parts(of: text, in: column.column, record) {
                    let start = TextWidth.columns(text[..<part.lowerBound])
                    let end = min(limit, TextWidth.columns(text[..<part.upperBound]))
                    screen.style(x + min(start, end)..<x + end, y: line.y, Self.merged(style, onto: base))
                }
                x += column.width + 1
            }
            if isSelected, !model.look.isUnicode || !theme.hasColours {
                screen[line.x, line.y] = Cell(">", style: base)
            }
        }
    }

    private func drawTitles(_ columns: ListColumns, in rect: Rect, on screen: inout CellBuffer) {
        let style = model.look.theme.style(.label).with(.bold)
        var x = rect.x
        for column in columns.drawn {
            var title = column.column.title(at: model.now)
            if column.column == .host, showsTLS, (16..<Self.schemeFrom).contains(column.width) {
                title = "HOST (+ is TLS)"
            }
            if let sort = model.list.query.sort, sort.column.rawValue == column.column.rawValue {
                title += sort.isDescending ? "▼" : "▲"
            }
            let text = column.column.isRightAligned ? TextWidth.paddedLeft(title, to: column.width) : title
            screen.write(text, x: x, y: rect.y, style: style, limit: min(column.width, rect.maxX - x))
            x += column.width + 1
        }
        let sign = columns.sign(model.look)
        guard !sign.isEmpty, rect.width > 8 else { return }
        let end = Rect(x: rect.maxX - sign.count - 1, y: rect.y, width: sign.count + 1, height: 1)
        screen.fill(end, style: style)
        screen.write(sign, x: end.x + 1, y: end.y, style: model.look.theme.style(.warning).with(.bold))
    }

    private func parts(of text: String, in column: Column, _ record: ExchangeRecord) -> [(Range<String.Index>, Style)] {
        let theme = model.look.theme
        switch column {
        case .host:
            let host = text.firstRange(of: "://")?.upperBound ?? text.startIndex
            return [(text.startIndex..<host, theme.style(.faint)), (host..<text.endIndex, theme.host)]
        case .path:
            let remark = remark(record)
            let end = text.index(text.endIndex, offsetBy: -(remark?.text.count ?? 0))
            let query = text[..<end].firstIndex(of: "?") ?? end
            return [(query..<end, theme.query)] + (remark.map { [(end..<text.endIndex, theme.style($0.role))] } ?? [])
        default: return []
        }
    }

    /// The text after the path: the GraphQL operation, or the status of a failed gRPC call.
    private func remark(_ record: ExchangeRecord) -> Words? {
        if let grpc = record.grpc, grpc.status > 0, let name = grpc.name { return ("  \(name)", .serverError) }
        return model.list.operations[record.id].map { ("  \($0)", .keyword) }
    }

    private func cell(_ drawn: ListColumns.Drawn, _ record: ExchangeRecord, _ axis: TimeAxis) -> Words {
        switch drawn.column {
        case .id: return (signs(record) + record.id.description, .faint)
        case .start: return (String(Timestamp.clock(record.startedAt).prefix(8)), .faint)
        case .method: return (record.method, .keyword)
        case .scheme: return (record.url.scheme, .faint)
        case .host: return (host(record, drawn.width), .text)
        case .path: return (Self.path(record) + (remark(record)?.text ?? ""), .text)
        case .status: return status(record)
        case .type: return (ExchangeLine.shortType(record.mediaType), .faint)
        case .size: return (Self.size(record), .text)
        case .time: return (time(record), record.timings.total ?? 0 >= 1_000_000 ? .warning : .text)
        case .version: return (version(record), .faint)
        case .process: return (TextWidth.cutMiddle(Self.process(record), to: drawn.width), .faint)
        case .server: return (TextWidth.cutMiddle(record.serverAddress ?? "", to: drawn.width), .faint)
        case .comment: return (record.extras.annotation.comment?.onOneLine ?? "", .warning)
        case .waterfall: return (axis.bar(record, width: drawn.width), .link)
        case .place(let place): return (model.list.values[record.id]?[place] ?? "", .text)
        }
    }

    /// A short description of an exchange in the tree, which already shows the path.
    func words(_ record: ExchangeRecord) -> String {
        let query = record.url.query.map { "?\(VisibleText.percentDecoded($0))" } ?? ""
        let start = String(Timestamp.clock(record.startedAt).prefix(8))
        return "\(start) \(record.method) \(query)" + (remark(record)?.text ?? "")
    }

    /// `*` marked, `↻` sent from here, `"` commented, the first letter of a colour, the number of a highlight.
    private func signs(_ record: ExchangeRecord) -> String {
        let annotation = record.extras.annotation
        let sent = model.sending.connections.contains(record) ? model.look.isUnicode ? "↻" : "r" : ""
        return (model.marked.contains(record.id) ? "*" : "") + sent + (annotation.comment == nil ? "" : "\"")
            + (colour(record)?.rawValue.prefix(1) ?? "") + (model.highlight(record).map { "\($0):" } ?? "")
    }

    private func colour(_ record: ExchangeRecord) -> ExchangeAnnotation.Colour? {
        record.extras.annotation.colour.flatMap { ExchangeAnnotation.Colour(rawValue: $0) }
    }

    /// From this width on, the host column shows the scheme before the host; a narrower column marks TLS with `+`.
    static let schemeFrom = 28

    private var showsTLS: Bool { !model.list.columns.contains(.scheme) }

    private func host(_ record: ExchangeRecord, _ width: Int) -> String {
        guard showsTLS, width > 8 else { return cut(hostOf: record, to: width) }
        if width >= Self.schemeFrom, record.kind != .tunnel {
            let scheme = "\(record.url.scheme)://"
            return scheme + cut(hostOf: record, to: width - scheme.count)
        }
        return (record.isEncrypted ? "+" : " ") + cut(hostOf: record, to: width - 1)
    }

    /// The column width that shows the whole host, given that the column is at least `width` wide.
    func hostWidth(_ record: ExchangeRecord, _ width: Int) -> Int {
        let host = TextWidth.columns(HostForms.text(of: record.url.host)) + port(record).count
        guard showsTLS else { return host }
        return host + (width >= Self.schemeFrom && record.kind != .tunnel ? record.url.scheme.count + 3 : 1)
    }

    /// The HTTP versions of client and server side, or one version if they are equal: `1.1`, `2`, `2>1.1`.
    private func version(_ record: ExchangeRecord) -> String {
        func short(_ version: HTTPVersion) -> String { version.description.replacing("HTTP/", with: "") }
        let client = short(record.clientVersion)
        guard let upstream = record.upstreamVersion.map(short), upstream != client else { return client }
        return "\(client)>\(upstream)"
    }

    /// The port, unless it is the scheme's default port; for a tunnel, the default is 443.
    private func port(_ record: ExchangeRecord) -> String {
        let usual = record.kind == .tunnel ? 443 : RequestURL.defaultPort(of: record.url.scheme)
        return usual == record.url.port ? "" : ":\(record.url.port)"
    }

    private func cut(hostOf record: ExchangeRecord, to width: Int) -> String {
        // The port distinguishes hosts with the same name, so it stays whole if there is room for the host too.
        let (url, port) = (record.url, port(record))
        let room = width - port.count
        // A shortened Unicode name could look like a different host, so only the ASCII form is shortened.
        let forms = HostForms(url.host)
        let host = forms.map { TextWidth.columns($0.text) <= room ? $0.text : $0.ascii } ?? url.host
        if !port.isEmpty, room < 6 { return TextWidth.cut(host, to: width) }
        return TextWidth.cutMiddle(host, to: room) + port
    }

    static func path(_ record: ExchangeRecord) -> String {
        switch record.kind {
        case .tunnel where record.flags.contains(.certificateRefused): "(certificate refused, not decrypted)"
        case .tunnel where record.flags.contains(.notIntercepted): "(not decrypted, passed through)"
        case .tunnel: "(tunnel, not decrypted)"
        case .failedHandshake: "(TLS handshake failed)"
        case .malformed: "(not an HTTP request)"
        default: VisibleText.percentDecoded(record.url.pathAndQuery)
        }
    }

    /// The status in a word, and its role. In a recording that has ended, open exchanges count as cut off.
    func status(_ record: ExchangeRecord) -> (text: String, role: Role) {
        let changed = record.flags.isDisjoint(with: [.requestChanged, .responseChanged, .answeredLocally]) ? "" : "~"
        switch record.state {
        case .inFlight where !model.isLive: return ("cut", .failure)
        case .inFlight where model.hold(of: record.id) != nil: return ("held", .changed)
        case .inFlight: return (record.status > 0 ? "\(record.status)…" : "…", .changed)
        case .failed: return (record.status > 0 ? "\(record.status)!" : "failed", .failure)
        case .blocked: return (record.status > 0 ? "\(record.status)#" : "denied", .warning)
        case .interrupted: return ("cut", .failure)
        case .complete:
            guard record.status > 0 else { return ("-", .faint) }
            if let grpc = record.grpc?.status { return ("rpc\(grpc)\(changed)", grpc > 0 ? .serverError : .success) }
            let role: Role =
                switch record.status {
                case ..<300: .success
                case ..<400: .redirect
                case ..<500: .clientError
                default: .serverError
                }
            return ("\(record.status)\(changed)", role)
        }
    }

    static func size(_ record: ExchangeRecord) -> String { Measures.size(record.listedSize) }

    func time(_ record: ExchangeRecord) -> String {
        guard record.state == .inFlight, model.isLive else { return Measures.duration(record.timings.total) }
        return model.now > record.startedAt ? "\((model.now - record.startedAt) / 1_000_000) s…" : "…"
    }

    /// The client's program and process id; `(not found)` if the process of a local client is unknown.
    static func process(_ record: ExchangeRecord) -> String {
        if let process = record.extras.process { return "\(process.name) \(process.id)" }
        return record.isProcessUnknown && record.state != .inFlight ? "(not found)" : ""
    }

    private func background(_ record: ExchangeRecord?) -> Style {
        if let colour = record.flatMap(colour) { return model.look.theme.style(colour) }
        guard let record, let number = model.highlight(record) else { return .plain }
        return model.look.theme.highlight(number)
    }

    /// The text's colour; on a coloured background, the row's colour, because not every colour is readable there.
    static func merged(_ style: Style, onto base: Style) -> Style {
        let isPlain = base.background == .standard && !base.attributes.contains(.reverse)
        let front = isPlain ? style.foreground : base.foreground
        return Style(front, on: base.background, style.attributes.union(base.attributes))
    }
}

/// The time axis of the waterfall. Pauses without exchanges are shortened, so that bars keep their length.
struct TimeAxis {
    /// The maximum length of a pause, as a share of the total time in which exchanges ran.
    private static let longestPause = 0.05

    /// The periods in which exchanges ran, in microseconds, and the length of the axis before each period.
    private var stretches: [(start: Double, end: Double, before: Double)] = []
    private var length = 1.0
    private let isLive: Bool

    init(_ records: [ExchangeRecord], isLive: Bool) {
        self.isLive = isLive
        for record in records.sorted(by: { $0.startedAt < $1.startedAt }) {
            let start = Double(record.startedAt)
            // Only the start counts for tunnels, streams and open exchanges, which would fill the whole axis.
            let end = record.kind == .http && !isOpen(record) ? self.end(record) : start
            if let last = stretches.last, start <= last.end {
                stretches[stretches.count - 1].end = max(last.end, end)
            } else {
                stretches.append((start, end, before: 0))
            }
        }
        let pause = Self.longestPause * max(1, stretches.reduce(0) { $0 + $1.end - $1.start })
        for index in stretches.indices.dropFirst() {
            let last = stretches[index - 1]
            let idle = stretches[index].start - last.end
            stretches[index].before = last.before + last.end - last.start + min(pause, idle)
        }
        if let last = stretches.last { length = max(1, last.before + last.end - last.start) }
    }

    /// The bar of an exchange, at least one column wide; if the exchange is open, up to the end of the axis.
    func bar(_ record: ExchangeRecord, width: Int) -> String {
        let start = min(width - 1, column(Double(record.startedAt), width))
        let end = isOpen(record) ? width : column(end(record), width)
        let length = min(max(1, end - start), width - start)
        return String(repeating: " ", count: start) + String(repeating: "▬", count: length)
    }

    private func column(_ moment: Double, _ width: Int) -> Int {
        guard let stretch = stretches.last(where: { $0.start <= moment }) else { return 0 }
        let place = stretch.before + min(moment, stretch.end) - stretch.start
        return Int(place / length * Double(width))
    }

    private func end(_ record: ExchangeRecord) -> Double {
        Double(record.startedAt) + Double(max(0, record.timings.total ?? 0))
    }

    private func isOpen(_ record: ExchangeRecord) -> Bool { record.state == .inFlight && isLive }
}
