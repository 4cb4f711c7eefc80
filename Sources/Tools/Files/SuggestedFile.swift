import Content
package import HTTPModel
package import Rules

/// Names for files with recorded bodies.
package enum SuggestedFile {
    /// Where a body for map-local can be saved: a path beside the profile, with an extension for the body's type.
    package static func name(for record: ExchangeRecord, _ breadth: ExchangeScope = .path) -> String {
        var url = record.url
        if breadth > .url { url.query = nil }
        let names = MirrorNames(url)
        var file = names.file
        if let known = MediaType(record.mediaType)?.fileExtension {
            let isIndex = url.path.isEmpty || url.path.hasSuffix("/")
            if isIndex, url.query == nil, record.mediaType != "text/html" {
                file = "index.\(known)"
            } else if !MediaTypes.tells(file, record.mediaType) {
                file += ".\(known)"
            }
        }
        return (["local"] + names.directories + [file]).joined(separator: "/")
    }

    static func folder(_ url: RequestURL) -> String { "local/\(MirrorNames(url).directories.first ?? url.host)/" }
}
