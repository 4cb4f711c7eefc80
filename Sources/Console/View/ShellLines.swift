import Text

/// Commands as a shell takes them, whatever the width of the screen.
enum ShellLines {
    /// A row of a command; one that goes on within a word must not be indented, as a space would end the word.
    struct Row: Hashable {
        var text: String
        var isFlush = false
    }

    /// Breaks a command into rows of at most `width` columns: where a space stands if that is enough, else within words.
    ///
    /// A row that goes on ends with `\`, which a shell takes away with the line break behind it.
    static func rows(_ command: String, width: Int) -> [Row] {
        let room = max(8, width)
        var rows: [Row] = []
        var line = ""
        var isFlush = false
        for word in words(command) {
            let start = line.isEmpty ? (rows.isEmpty ? "" : "  ") : line + " "
            if TextWidth.columns(start + word) + 2 <= room {
                line = start + word
                continue
            }
            if !line.isEmpty {
                rows.append(Row(text: line + " \\", isFlush: isFlush))
                isFlush = false
            }
            line = rows.isEmpty ? word : "  " + word
            while TextWidth.columns(line) + 2 > room {
                let cut = place(in: line, room - 1)
                rows.append(Row(text: line[..<cut] + "\\", isFlush: isFlush))
                line = String(line[cut...])
                isFlush = true
            }
        }
        if !line.isEmpty { rows.append(Row(text: line, isFlush: isFlush)) }
        return rows
    }

    /// A text as one word of a shell, without quotation marks: within these no line could be broken.
    static func word(_ text: String) -> String {
        text.map { character in
            let isPlain = character.isLetter || character.isNumber || "-_./:=@%+,".contains(character)
            return isPlain ? String(character) : "\\\(character)"
        }.joined()
    }

    /// The words of a command, each with what is escaped in it.
    private static func words(_ command: String) -> [String] {
        var words = [""]
        var isEscaped = false
        for character in command {
            if character == " ", !isEscaped {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        return words.filter { !$0.isEmpty }
    }

    /// The last place in a line with at most so many columns before it that does not part a `\` from what it escapes.
    private static func place(in line: String, _ columns: Int) -> String.Index {
        var place = line.startIndex
        var used = 0
        var isEscaped = false
        for index in line.indices {
            used += TextWidth.columns(line[index])
            guard used <= columns else { break }
            isEscaped = line[index] == "\\" && !isEscaped
            if !isEscaped { place = line.index(after: index) }
        }
        return place > line.startIndex ? place : line.index(after: line.startIndex)
    }
}
