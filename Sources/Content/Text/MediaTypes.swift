/// Media types by the extension of a file's name, and the other way round.
package enum MediaTypes {
    /// The type of unknown data (RFC 2046 §4.5.1).
    package static let unknown = "application/octet-stream"

    /// Text types get `charset=utf-8`.
    package static func contentType(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex,
            let type = types[name[name.utf8.index(after: dot)...].lowercased()]
        else { return unknown }
        // JSON is always UTF-8 (RFC 8259 §8.1), and XML declares its encoding (RFC 7303 §3).
        return type.hasPrefix("text/") ? "\(type); charset=utf-8" : type
    }

    /// Whether a file's extension implies this value of `Content-Type`: the same type, in UTF-8 or without a charset.
    package static func tells(_ name: String, _ contentType: String) -> Bool {
        let parts = contentType.lowercased().split(separator: ";").map {
            $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        guard let essence = parts.first, parts.dropFirst().allSatisfy({ $0 == "charset=utf-8" }) else { return false }
        let own = self.contentType(of: name).prefix { $0 != ";" }
        return own == essence || own == "text/javascript" && essence == "application/javascript"
    }

    /// Each type with its file extensions; Sluice uses the first one for the files that it writes.
    private static let table: [(type: String, extensions: String)] = [
        // Web pages and their resources.
        ("text/html", "html htm"), ("application/xhtml+xml", "xhtml"), ("text/css", "css"),
        ("text/javascript", "js mjs cjs jsx"), ("application/wasm", "wasm"),
        ("application/manifest+json", "webmanifest"), ("text/cache-manifest", "appcache"),
        // Data.
        ("application/json", "json map har topojson"), ("application/ld+json", "jsonld"),
        ("application/geo+json", "geojson"), ("application/x-ndjson", "ndjson jsonl"), ("application/json5", "json5"),
        ("application/xml", "xml xsd xsl plist"), ("application/xslt+xml", "xslt"), ("application/rss+xml", "rss"),
        ("application/atom+xml", "atom"), ("application/yaml", "yaml yml"), ("application/toml", "toml"),
        ("text/csv", "csv"), ("text/tab-separated-values", "tsv"), ("application/graphql", "graphql"),
        ("application/x-protobuf", "pb"), ("application/octet-stream", "bin br ipa"),
        ("application/vnd.apple.mpegurl", "m3u8"), ("audio/mpegurl", "m3u"), ("application/dash+xml", "mpd"),
        ("application/vnd.sqlite3", "sqlite"),
        // Text.
        ("text/plain", "txt proto text log php py rb sh swift tsx java kt go rs c h cpp sql ini conf diff patch"),
        ("text/markdown", "md markdown"), ("text/calendar", "ics"), ("text/vcard", "vcf"), ("text/vtt", "vtt"),
        ("application/x-subrip", "srt"), ("application/rtf", "rtf"),
        // Images.
        ("image/png", "png"), ("image/apng", "apng"), ("image/jpeg", "jpg jpeg"), ("image/gif", "gif"),
        ("image/webp", "webp"), ("image/avif", "avif"), ("image/heic", "heic"), ("image/heif", "heif"),
        ("image/jxl", "jxl"), ("image/svg+xml", "svg"), ("image/x-icon", "ico cur"), ("image/bmp", "bmp"),
        ("image/tiff", "tiff tif"),
        // Audio and video.
        ("audio/mpeg", "mp3"), ("audio/mp4", "m4a"), ("audio/aac", "aac"), ("audio/ogg", "ogg oga opus"),
        ("audio/wav", "wav"), ("audio/flac", "flac"), ("audio/midi", "mid midi"), ("audio/webm", "weba"),
        ("video/mp4", "mp4 m4v"), ("video/iso.segment", "m4s"), ("video/mp2t", "ts"), ("video/quicktime", "mov"),
        ("video/webm", "webm"), ("video/ogg", "ogv"), ("video/x-msvideo", "avi"), ("video/matroska", "mkv"),
        ("video/mpeg", "mpeg mpg"), ("video/3gpp", "3gp"),
        // Fonts.
        ("font/woff", "woff"), ("font/woff2", "woff2"), ("font/ttf", "ttf"), ("font/otf", "otf"),
        ("font/collection", "ttc"), ("application/vnd.ms-fontobject", "eot"),
        // Documents and archives.
        ("application/pdf", "pdf"), ("application/epub+zip", "epub"), ("application/zip", "zip"),
        ("application/gzip", "gz tgz"), ("application/zstd", "zst"), ("application/x-tar", "tar"),
        ("application/x-bzip2", "bz2"), ("application/x-xz", "xz"), ("application/x-7z-compressed", "7z"),
        ("application/vnd.rar", "rar"), ("application/java-archive", "jar"),
        ("application/vnd.android.package-archive", "apk"), ("application/x-apple-diskimage", "dmg"),
        ("application/vnd.microsoft.portable-executable", "exe"), ("application/msword", "doc"),
        ("application/vnd.ms-excel", "xls"), ("application/vnd.ms-powerpoint", "ppt"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
        ("application/vnd.oasis.opendocument.text", "odt"), ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
        ("multipart/related", "mhtml mht"),
        // Keys.
        ("application/x-pem-file", "pem"), ("application/x-x509-ca-cert", "crt"), ("application/pkix-cert", "cer"),
        ("application/x-apple-aspen-config", "mobileconfig"),
    ]

    /// Other names of these types (RFC 7303 §9.2, RFC 9239 §6).
    private static let otherNames = [
        "text/xml": "application/xml", "application/javascript": "text/javascript",
        "application/x-javascript": "text/javascript",
    ]

    private static let types: [String: String] = {
        let pairs = table.flatMap { row in row.extensions.split(separator: " ").map { (String($0), row.type) } }
        return Dictionary(pairs) { first, _ in first }
    }()

    fileprivate static let extensions: [String: String] = {
        var extensions: [String: String] = [:]
        // The extension of unknown data would say nothing about its content.
        for row in table where row.type != unknown {
            extensions[row.type] = row.extensions.split(separator: " ").first.map { String($0) }
        }
        for (other, type) in otherNames { extensions[other] = extensions[type] }
        return extensions
    }()
}

extension MediaType {
    /// The extension of files of this type, without its dot; `nil` if none is known.
    package var fileExtension: String? { MediaTypes.extensions[essence] ?? (isJSON ? "json" : isXML ? "xml" : nil) }
}
