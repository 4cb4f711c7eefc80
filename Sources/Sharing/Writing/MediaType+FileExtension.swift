package import Content

extension MediaType {
    /// The extension of files of this type, without its dot; `nil` where none is known.
    package var fileExtension: String? {
        MediaType.extensions[essence] ?? (isJSON ? "json" : isXML ? "xml" : nil)
    }

    private static let extensions = [
        "text/html": "html", "text/plain": "txt", "text/css": "css", "text/csv": "csv", "text/javascript": "js",
        "application/javascript": "js", "application/x-ndjson": "ndjson", "image/png": "png", "image/jpeg": "jpg",
        "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg", "audio/mpeg": "mp3", "video/mp4": "mp4",
        "font/woff2": "woff2", "application/pdf": "pdf", "application/zip": "zip",
    ]
}
