import Content
import HTTPModel

/// An XML element; attributes are ignored, because Charles does not use them.
struct XMLElement: Hashable, Sendable {
    var name: String
    /// Its own text, with white space.
    var text = ""
    var children: [XMLElement] = []
    var line = 1

    /// In bytes; larger files are refused. No settings are larger, even with bodies pasted into rewrite rules.
    static let largestFile = 64 << 20

    init(_ name: String) { self.name = name }

    subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of a child, empty if it is missing.
    func text(_ name: String) -> String { self[name]?.text ?? "" }

    /// Reads a document, and returns the outermost element. `isKept` is called with the names of the open elements, the
    /// new one last. An element that is not kept is checked and forgotten, with its content.
    static func read(_ bytes: [UInt8], keeping isKept: ([String]) -> Bool) throws(CharlesError) -> XMLElement {
        guard bytes.count <= largestFile else {
            throw CharlesError(message: "the file is larger than \(largestFile >> 20) MiB, the limit for settings")
        }
        var pieces = [bytes]
        var reader = XMLTokenReader(refill: UTF8Pieces.utf8 { pieces.popLast() ?? [] })
        do throws(XMLSyntaxError) {
            return try read(&reader, isKept)
        } catch {
            throw CharlesError(line: error.line, column: error.column, message: error.message)
        }
    }

    private static func read(
        _ reader: inout XMLTokenReader,
        _ isKept: ([String]) -> Bool
    ) throws(XMLSyntaxError) -> XMLElement {
        var path: [String] = []
        var open: [XMLElement] = []
        var root = XMLElement("")
        /// Open elements that are not kept.
        var forgotten = 0
        while let token = try reader.next() {
            switch token {
            case .text(let text):
                if forgotten == 0, !open.isEmpty { open[open.count - 1].text += text }
            case .start(let name, _):
                path.append(name)
                if forgotten > 0 || !isKept(path) {
                    forgotten += 1
                } else {
                    var element = XMLElement(name)
                    element.line = reader.line
                    open.append(element)
                }
            case .end:
                path.removeLast()
                if forgotten > 0 {
                    forgotten -= 1
                } else if let element = open.popLast() {
                    if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
                }
            }
        }
        return root
    }
}

extension StringProtocol {
    /// Without white space at both ends.
    var trimmed: String {
        var rest = Substring(self)
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
