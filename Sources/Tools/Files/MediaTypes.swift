/// Media types by the extension of a file's name.
enum MediaTypes {
    /// The type of unknown data (RFC 2046 §4.5.1).
    static let unknown = "application/octet-stream"

    /// The value of `Content-Type` for a file; text is taken for UTF-8.
    static func contentType(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex,
            let type = types[name[name.utf8.index(after: dot)...].lowercased()]
        else { return unknown }
        // JSON is always UTF-8 (RFC 8259 §8.1), and XML declares its encoding (RFC 7303 §3).
        return type.hasPrefix("text/") ? "\(type); charset=utf-8" : type
    }

    /// Whether a file's extension implies this value of `Content-Type`: the same type, in UTF-8 or without a charset.
    static func tells(_ name: String, _ contentType: String) -> Bool {
        let parts = contentType.lowercased().split(separator: ";").map {
            $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        guard let essence = parts.first, parts.dropFirst().allSatisfy({ $0 == "charset=utf-8" }) else { return false }
        let own = self.contentType(of: name).prefix { $0 != ";" }
        return own == essence || own == "text/javascript" && essence == "application/javascript"
    }

    private static let types: [String: String] = [
        // Pages and what belongs to them.
        "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "css": "text/css",
        "js": "text/javascript", "mjs": "text/javascript", "cjs": "text/javascript", "wasm": "application/wasm",
        "map": "application/json", "webmanifest": "application/manifest+json", "appcache": "text/cache-manifest",
        // Data.
        "json": "application/json", "jsonld": "application/ld+json", "geojson": "application/geo+json",
        "ndjson": "application/x-ndjson", "jsonl": "application/x-ndjson", "json5": "application/json5",
        "har": "application/json", "topojson": "application/json", "xml": "application/xml", "xsd": "application/xml",
        "xsl": "application/xml", "xslt": "application/xslt+xml", "rss": "application/rss+xml",
        "atom": "application/atom+xml", "yaml": "application/yaml", "yml": "application/yaml",
        "toml": "application/toml", "csv": "text/csv", "tsv": "text/tab-separated-values",
        "graphql": "application/graphql", "proto": "text/plain", "pb": "application/x-protobuf",
        "bin": "application/octet-stream", "plist": "application/xml", "m3u8": "application/vnd.apple.mpegurl",
        "m3u": "audio/mpegurl", "mpd": "application/dash+xml", "sqlite": "application/vnd.sqlite3",
        // Text.
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "md": "text/markdown",
        "markdown": "text/markdown", "ics": "text/calendar", "vcf": "text/vcard", "vtt": "text/vtt",
        "srt": "application/x-subrip", "rtf": "application/rtf", "php": "text/plain", "py": "text/plain",
        "rb": "text/plain", "sh": "text/plain", "swift": "text/plain", "tsx": "text/plain",
        "jsx": "text/javascript", "java": "text/plain", "kt": "text/plain", "go": "text/plain", "rs": "text/plain",
        "c": "text/plain", "h": "text/plain", "cpp": "text/plain", "sql": "text/plain", "ini": "text/plain",
        "conf": "text/plain", "diff": "text/plain", "patch": "text/plain",
        // Images.
        "png": "image/png", "apng": "image/apng", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "heif": "image/heif", "jxl": "image/jxl",
        "svg": "image/svg+xml", "ico": "image/x-icon", "cur": "image/x-icon", "bmp": "image/bmp",
        "tif": "image/tiff", "tiff": "image/tiff",
        // Sound and film.
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg", "oga": "audio/ogg",
        "opus": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac", "mid": "audio/midi", "midi": "audio/midi",
        "weba": "audio/webm", "mp4": "video/mp4", "m4v": "video/mp4", "m4s": "video/iso.segment", "ts": "video/mp2t",
        "mov": "video/quicktime", "webm": "video/webm", "ogv": "video/ogg", "avi": "video/x-msvideo",
        "mkv": "video/matroska", "mpeg": "video/mpeg", "mpg": "video/mpeg", "3gp": "video/3gpp",
        // Fonts.
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "ttc": "font/collection",
        "eot": "application/vnd.ms-fontobject",
        // Documents and archives.
        "pdf": "application/pdf", "epub": "application/epub+zip", "zip": "application/zip", "gz": "application/gzip",
        "br": "application/octet-stream", "zst": "application/zstd", "tar": "application/x-tar",
        "tgz": "application/gzip", "bz2": "application/x-bzip2", "xz": "application/x-xz",
        "7z": "application/x-7z-compressed", "rar": "application/vnd.rar", "jar": "application/java-archive",
        "apk": "application/vnd.android.package-archive", "ipa": "application/octet-stream",
        "dmg": "application/x-apple-diskimage", "exe": "application/vnd.microsoft.portable-executable",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "mht": "multipart/related", "mhtml": "multipart/related",
        // Keys.
        "pem": "application/x-pem-file", "crt": "application/x-x509-ca-cert", "cer": "application/pkix-cert",
        "mobileconfig": "application/x-apple-aspen-config",
    ]
}
