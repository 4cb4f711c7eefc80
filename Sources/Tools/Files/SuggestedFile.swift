package import HTTPModel
package import Rules

/// Names for files that are made from recorded exchanges.
package enum SuggestedFile {
    /// Where the body that map-local answers with can be saved: a path beside the profile, with an extension that tells
    /// the body's type.
    package static func name(for record: ExchangeRecord, _ breadth: ExchangeBreadth = .path) -> String {
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

    static func folder(_ url: RequestURL) -> String {
        "local/\(MirrorNames(url).directories.first ?? url.host)/"
    }

    private static let extensions = [
        "application/json": "json", "text/html": "html", "text/plain": "txt", "text/css": "css",
        "text/javascript": "js", "application/javascript": "js", "application/xml": "xml", "text/xml": "xml",
        "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg",
        "text/csv": "csv", "application/pdf": "pdf", "application/x-ndjson": "ndjson", "font/woff2": "woff2",
    ]
}
