import CPage

/// A file of `Sources/CPage/Web`, which is embedded in the program.
struct PageFile {
    let name: String
    let text: String

    static let all: [PageFile] = {
        var files: [PageFile] = []
        while let file = sluice_page_file_at(files.count)?.pointee {
            let text = UnsafeBufferPointer(start: file.text, count: file.size)
            files.append(PageFile(name: String(cString: file.name), text: String(decoding: text, as: UTF8.self)))
        }
        return files
    }()

    /// The script of a page: constant, so that the page's policy can name it by its digest. It sets the text of
    /// elements and never parses markup; it builds rows when they scroll into view, and details when they are opened.
    static let script = "(() => {\n'use strict';\n" + text(".js") + "})();\n"
    static let style = text(".css")

    /// The joined texts of the files whose names end with `end`.
    static func text(_ end: String) -> String { all.filter { $0.name.hasSuffix(end) }.map(\.text).joined() }
}
