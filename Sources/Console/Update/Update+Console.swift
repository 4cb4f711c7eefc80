import HTTPModel
import Sharing
import Terminal

/// The console itself: help, messages, theme, the end.
extension ConsoleModel {
    mutating func setTheme(_ word: String) -> [Effect] {
        guard let theme = Theme(rawValue: word.lowercased()) else { return [] }
        look.theme = theme
        isThemeChosen = true
        return [.terminal(.redraw)]
    }

    func openTrust() -> [Effect] { [.trust(FirstSteps(self), width: reportWidth)] }

    mutating func openMessages() -> [Effect] {
        let lines = notices.reversed().filter { !$0.isAboutKey }.map { notice in
            let time = Span("\(Timestamp.timeOfDay(notice.at))  ", .faint)
            return DetailLine([time, Span(notice.text, notice.kind == .error ? .failure : .text)])
        }
        let none = [DetailLine([Span("Nothing so far.", .faint)])]
        return report("Messages, the newest first", DetailDocument(lines: lines.isEmpty ? none : lines))
    }

    /// Whether quitting loses changed rules; a proxy that runs elsewhere keeps its own.
    var losesRules: Bool {
        guard case .live = source else { return false }
        return proxy.problem == nil && rules.isUnsaved
    }

    /// Ends the console; asks first where something would be lost.
    mutating func quit() -> [Effect] {
        // The end of an opened session is not that of the console.
        if home != nil { return [.backToLive] }
        var losses: [String] = []
        if losesRules { losses.append("you have unsaved rule changes") }
        if case .live = source, !proxy.holds.isEmpty {
            losses.append(proxy.holds.count == 1 ? "a message waits" : "\(proxy.holds.count) messages wait")
        }
        guard !losses.isEmpty else { return [.terminal(.quit)] }
        let save = ConfirmState.Choice("s", "save the rules and quit") {
            // The console ends once the files are written, so that nothing is lost if they cannot be.
            $0.rules.endsWhenSaved = true
            return [.saveRules(isForced: false)]
        }
        let quit = ConfirmState.Choice("y", "quit all the same") { _ in [.terminal(.quit)] }
        var question = ConfirmState(
            question: "\(losses.joined(separator: ", and ").capitalizedFirst).",
            choices: (losesRules ? [save] : []) + [quit, .init("n", "stay")],
            askedAt: now
        )
        question.isAboutQuitting = true
        return push(.confirm(question))
    }
}
