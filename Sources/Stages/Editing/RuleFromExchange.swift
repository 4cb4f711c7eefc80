import ExchangeCore
package import HTTPModel

/// Makes a rule of each tool from an exchange that was recorded, to be put in as it is or edited first.
package enum RuleFromExchange {
    /// How much a tool's rule is for where nothing else is asked for.
    package static func usualBreadth(for section: ProfileSection, _ record: ExchangeRecord) -> ExchangeBreadth {
        let usual: ExchangeBreadth =
            switch section {
            case .tool(.breakpoints), .tool(.mapRemote), .tool(.mapLocal), .tool(.blockList), .tool(.rewrite): .path
            case .tool, .intercept: .host
            }
        let all = breadths(for: section, record)
        return all.contains(usual) ? usual : all.first ?? .host
    }

    /// The breadths to choose from, from narrow to wide; empty where no rule can be made.
    package static func breadths(for section: ProfileSection, _ record: ExchangeRecord) -> [ExchangeBreadth] {
        guard !record.url.host.isEmpty, record.kind != .malformed else { return [] }
        let all = ExchangeBreadth.all(for: record.url)
        switch section {
        case .intercept: return all.filter { $0 >= .host }
        case .tool(.dnsSpoofing): return record.url.host.isAddress ? [] : all.filter { $0 >= .host }
        case .tool(.mapLocal):
            return record.url.scheme == "tunnel" ? [] : all.filter { $0 <= .host && $0 != .below }
        case .tool(let slot):
            // Of bytes that pass unread no tool knows more than where they go.
            let takesTunnels = [.allowList, .blockList, .throttle].contains(slot)
            return record.url.scheme != "tunnel" || takesTunnels ? all : []
        }
    }

    /// Makes the rule.
    ///
    /// - Parameters:
    ///   - section: the tool.
    ///   - record: the exchange.
    ///   - breadth: how much the rule is for; `nil` for what is usual.
    /// - Returns: the rule's text; `nil` where the tool can do nothing with such an exchange.
    package static func rule(
        for section: ProfileSection,
        from record: ExchangeRecord,
        _ breadth: ExchangeBreadth? = nil
    ) -> RuleText? {
        let known = breadths(for: section, record)
        guard !known.isEmpty else { return nil }
        let breadth = breadth.flatMap { known.contains($0) ? $0 : nil } ?? usualBreadth(for: section, record)
        let place = DraftValue.texts(breadth.locations(of: record.url))
        guard case .tool(let slot) = section else { return text([DraftField("except", place)]) }
        switch slot {
        case .allowList: return text([DraftField("at", place)])
        case .blockList: return text([DraftField("at", place), DraftField("action", .word("403"))])
        case .noCaching, .blockCookies: return text([DraftField("only", place)])
        case .throttle: return text([DraftField("preset", .word("3g")), DraftField("only", place)])
        case .dnsSpoofing:
            return text([DraftField("host", place), DraftField("address", .text("127.0.0.1"))])
        case .mirror: return text([DraftField("to", .text("mirrored/")), DraftField("only", place)])
        case .mapRemote:
            // What it leaves out, path and query, stays as it is.
            return text([DraftField("from", place), DraftField("to", .text("http://localhost:3000"))])
        case .mapLocal:
            let file = breadth == .host ? folder(record.url) : suggestedFile(for: record, breadth)
            return text([DraftField("from", place), DraftField("to", .text(file))])
        case .breakpoints:
            var fields = [DraftField("at", place)]
            if isMethod(record.method) { fields.append(DraftField("method", .text(record.method))) }
            return text(fields + [DraftField("on", .list([.word("request"), .word("response")]))])
        case .rewrite:
            let edit = DraftValue.mapping([
                DraftField("add", .word("header")), DraftField("on", .word("response")),
                DraftField("name", .text("X-Sluice")), DraftField("to", .text("seen")),
            ])
            let rule = text([DraftField("name", .text("mark what came through")), DraftField("at", place)])
            return RuleText("\(rule.yaml)\nrules:\n  - \(edit.flow)")
        }
    }

    private static func text(_ fields: [DraftField]) -> RuleText {
        RuleText(fields.map(\.flow).joined(separator: "\n"))
    }

    private static func isMethod(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(ProfileReader.isTokenByte)
    }

    // MARK: - Files

    /// Where the body that map-local answers with can be saved: a path beside the profile, with an extension that tells
    /// the body's type.
    package static func suggestedFile(for record: ExchangeRecord, _ breadth: ExchangeBreadth = .path) -> String {
        var url = record.url
        if breadth > .url { url.query = nil }
        let names = MirrorNames(url)
        var file = names.file
        // A file is easier to edit where its name says what it is.
        if url.path.hasSuffix("/") || url.path.isEmpty, url.query == nil, record.mediaType != "text/html",
            let known = extensions[record.mediaType]
        {
            file = "index.\(known)"
        } else if !MediaTypes.tells(file, record.mediaType), let known = extensions[record.mediaType] {
            file += ".\(known)"
        }
        return (["local"] + names.directories + [file]).joined(separator: "/")
    }

    private static func folder(_ url: RequestURL) -> String {
        "local/\(MirrorNames(url).directories.first ?? url.host)/"
    }

    private static let extensions = [
        "application/json": "json", "text/html": "html", "text/plain": "txt", "text/css": "css",
        "text/javascript": "js", "application/javascript": "js", "application/xml": "xml", "text/xml": "xml",
        "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg",
        "text/csv": "csv", "application/pdf": "pdf", "application/x-ndjson": "ndjson", "font/woff2": "woff2",
    ]
}
