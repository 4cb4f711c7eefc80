import HTTPModel
import Text

/// An element; attributes have no meaning in Charles' settings.
struct XMLElement: Hashable, Sendable {
    var name: String
    /// The text directly in it, with all blanks.
    var text = ""
    var children: [XMLElement] = []
    /// The line in which it began; 0 where it was not read.
    var line = 0

    init(_ name: String, _ text: String = "") { (self.name, self.text) = (name, text) }

    init(_ name: String, _ children: [XMLElement]) { (self.name, self.children) = (name, children) }

    /// The first child of a name.
    subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    // MARK: - Reading

    /// Reads a document, and returns the outermost element.
    ///
    /// `isKept` is called with the names of the open elements, the new one last. An element that is not kept is checked and
    /// forgotten, with its content.
    ///
    /// - Throws: ``CharlesError`` where it is not well-formed.
    static func read(_ bytes: [UInt8], keeping isKept: ([String]) -> Bool) throws(CharlesError) -> XMLElement {
        var reader = try XMLReader(bytes)
        var path: [String] = []
        var open: [XMLElement] = []
        var root = XMLElement("")
        /// The number of open elements that are not kept.
        var forgotten = 0
        while let event = try reader.next() {
            switch event {
            case .instruction: continue
            case .text(let text):
                if forgotten == 0, !open.isEmpty { open[open.count - 1].text += text }
            case .start(let name):
                path.append(name)
                if forgotten > 0 || !isKept(path) {
                    forgotten += 1
                } else {
                    var element = XMLElement(name)
                    element.line = reader.line()
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

    // MARK: - Writing

    /// Writes the element as Charles does, indented by two blanks for each level.
    func write(to text: inout String, level: Int = 0) {
        let indentation = String(repeating: "  ", count: level)
        guard children.isEmpty else {
            text += "\(indentation)<\(name)>\n"
            for child in children { child.write(to: &text, level: level + 1) }
            text += "\(indentation)</\(name)>\n"
            return
        }
        text += indentation
        text += self.text.isEmpty ? "<\(name)/>\n" : "<\(name)>\(XMLElement.escaped(self.text))</\(name)>\n"
    }

    /// Whether XML can have the text at all (§2.2).
    static func canHold(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(XMLReader.isCharacter) }

    private static func escaped(_ text: String) -> String {
        text.markupEscaped.unicodeScalars.reduce(into: "") { escaped, scalar in
            if !XMLReader.isCharacter(scalar) {
                escaped += "\u{FFFD}"
            } else if VisibleText.isHidden(scalar), scalar != "\n", scalar != "\t" {
                escaped += "&#\(scalar.value);"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
