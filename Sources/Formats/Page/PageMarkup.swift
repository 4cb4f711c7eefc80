enum PageMarkup {
    /// SHA-256 in base64 of ``PageFile/script`` and ``PageFile/style``, for the page's policy; a test compares them.
    static let scriptDigest = "Bg6/xoh+/8AG48KL5ZQQDRfeb/wbikxZdlUTs/4iVFI="
    static let styleDigest = "BgUlTkwJYPDj8boQm0cSK0eOotJ3UeGvZg2Mflm6zV0="

    /// What the page may do (Content Security Policy Level 3): run our script, use our style, show images it holds.
    static let policy = """
        default-src 'none'; script-src 'sha256-\(scriptDigest)'; style-src 'sha256-\(styleDigest)'; \
        img-src data:; base-uri 'none'; form-action 'none'
        """

    static func beginning(title: String) -> String {
        let name = PageText.escaped(title.isEmpty ? "Exchanges" : title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="color-scheme" content="light dark">
            <title>\(name) – Sluice</title>
            <style>\(PageFile.style)</style>
            </head>
            <body>

            """ + PageFile.text(".html").replacing("<!--title-->", with: name)
    }

    static let end = "<script>\(PageFile.script)</script>\n</body>\n</html>\n"
}
