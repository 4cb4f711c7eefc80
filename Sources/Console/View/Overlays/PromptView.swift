import Sharing
import Terminal
import Text

/// A line to type into; under it what is wrong with it, what it can be completed to, or what may be typed.
enum PromptView {
    private static let width = 76

    static func draw(_ prompt: PromptState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let room = max(1, OverlayView.place(width: width, height: 3, model.size).inside.width)
        let lines = lines(prompt, room)
        // What it finds is seen while it is typed.
        let place: OverlayView.Place = prompt.command != .findInDetail ? .middle : prompt.isHigh ? .top : .bottom
        let height = 1 + lines.count
        let inner = OverlayView.frame(prompt.title, width: width, height: height, at: place, model, on: &screen)
        let (field, below) = inner.splitTop(1)
        FieldView.draw(prompt.line, theme, in: field, on: &screen)
        for (row, line) in lines.enumerated() where row < below.height {
            let style = theme.style(line.role)
            screen.write(line.text, x: below.x, y: below.y + row, style: style, limit: below.width)
        }
    }

    private static func lines(_ prompt: PromptState, _ width: Int) -> [(text: String, role: Role)] {
        func wrapped(_ text: String, _ role: Role) -> [(text: String, role: Role)] {
            text.isEmpty ? [] : TextWidth.wrap(text, to: width).map { (String($0), role) }
        }
        guard prompt.problem.isEmpty else {
            return sign(prompt, width) + wrapped(prompt.problem, .failure)
                + (prompt.problem.contains("there are ") ? [] : wrapped(prompt.hint, .faint))
        }
        let candidates = prompt.candidates.joined(separator: "  ")
        return wrapped(candidates.isEmpty ? prompt.hint : candidates, .faint)
    }

    /// The sign below the column that is wrong; none where that is not known or not visible.
    private static func sign(_ prompt: PromptState, _ width: Int) -> [(text: String, role: Role)] {
        guard let column = prompt.problemColumn, column >= 0, column <= prompt.line.characters.count else { return [] }
        let before = TextWidth.columns(String(prompt.line.characters.prefix(column)))
        let place = before - FieldView.shift(prompt.line, width)
        guard (0..<width).contains(place) else { return [] }
        return [(String(repeating: " ", count: place) + "^", .failure)]
    }
}
