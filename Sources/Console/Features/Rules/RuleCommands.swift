import Description
package import HTTPModel
package import Rules
import Runner
import Terminal
import Text
import Tools

extension CommandTable {
    static let tools =
        ofTools + ofDrafts.map { $0.onLines.unless(\.noDraft) } + ofRules.map { $0.onLines.unless(\.noSteering) }
        + ofProfiles.map { $0.unless(\.noSteering) }

    private static let ofTools = [
        Row(.toggleTool, "Switch a tool on or off", Tool.toggleKeys, .tool).asking { $0.toggleTool($1) }
            .only(Tool.all.map(\.letter), at: [.list]).unless(\.noSteering),
        Row(.panel, "Open a tool's panel", Tool.panelKeys, .tool).asking { $0.openPanel($1) }.only(["N"], at: [.list])
            .unless(\.noProxy),
        Row(.ruleFromExchange, "Make a rule from the exchange", Tool.ruleKeys, .toolAndID).asking { $0.draftRule($1) }
            .short("add rule").unless(\.noOrigin),
    ]

    private static let ofDrafts = [
        Row(.draft, "Show the draft, or change a key or line", [], "[KEY VALUE]").with { try $0.changeDraft($1) },
        Row(.wider, "Draft the rule with a wider scope").plain { $0.widenDraft() },
        Row(.apply, "Apply the drafted rule, or send the request").plain { $0.applyDraft() },
        Row(.discard, "Discard the draft").plain { $0.discardDraft() },
    ]

    private static let ofRules = [
        Row(.switchRule, "Switch one rule of a tool on or off", [], .rule).onRule { $0.switchRule($1, of: $2) },
        Row(.removeRule, "Remove one rule of a tool", [], .rule).onRule { $0.removeRule($1, of: $2) },
        Row(.editRule, "Edit one rule of a tool as a draft", [], .rule).onRule { $0.editRule($1, of: $2) },
        Row(.moveRule, "Move one rule of a tool up or down", [], .ruleMove).asking { $0.moveRule($1) },
    ]

    private static let ofProfiles = [
        Row(.preset, "Choose network conditions", ["x p"], .preset).asking { try $0.setPreset($1) },
        Row(.saveProfile, "Save the rules to the profile's file", ["ctrl-s"], "FILE").with { try $0.saveProfile($1) },
        Row(.loadProfile, "Load a profile, or reload this one", ["U"], "[FILE]").with { try $0.loadProfile($1) }
            .at([.list]),
        Row(.decrypt, "Decrypt the host, or stop decrypting it", ["ctrl-d"], .host).with { try $0.decryptOrPass($1) },
        Row(.pass, "Stop decrypting a host", [], .host).with { try $0.pass($1) },
        Row(.insecureHost, "Stop or resume verifying the server's certificate", ["ctrl-t"], .host)
            .with { $0.switchVerification($1) },
        Row(.breakEverything, "Hold every message, or stop", ["ctrl-k"]).plain { try $0.switchEverything() },
    ]
}

extension CommandEntry {
    /// Acts on a rule that is given by its tool and its number.
    fileprivate func onRule(_ action: @escaping @Sendable (inout ConsoleModel, Int, Tool) -> [Effect]) -> Self {
        asking { $0.changeRule($1, action) }
    }
}

extension Tool {
    package static var all: [Tool] { ToolRegistry.standard.tools }

    /// `x` and the tool's letter; also the letter alone for tools whose letter is free for this.
    fileprivate static var toggleKeys: [String] {
        all.flatMap { ($0.descriptor.letterAlone.contains(.toggle) ? [$0.letter] : []) + ["x \($0.letter)"] }
    }

    /// The tool's capital letter, with an `x` before it for tools without a letter in Charles.
    fileprivate static var panelKeys: [String] {
        all.map { ($0.descriptor.letterAlone.contains(.panel) ? "" : "x ") + $0.letter.uppercased() }
    }

    var section: ProfileSection { .tool(self) }

    fileprivate static var ruleKeys: [String] { all.map { "a \($0.letter)" } }

    /// The tool with this key or letter, or whose key or title begins with the word.
    package init?(word: String) {
        let word = word.lowercased()
        guard !word.isEmpty,
            let found = Tool.all.first(where: { $0.key == word || $0.letter == word })
                ?? Tool.all.first(where: { $0.key.hasPrefix(word) || $0.title.lowercased().hasPrefix(word) })
        else { return nil }
        self = found
    }
}

package struct RulesState: Sendable {
    /// The file for rules if Sluice was started without a profile.
    package static let newFile = "sluice-rules.yaml"

    package var texts: [ProfileSource] = []
    /// The proxy's revision of these texts; `nil` if the proxy has not reported a revision.
    package var revision: String?
    /// The texts of the last change made here, to recognise this change when the proxy reports it.
    var wanted: [String] = []
    /// The texts before each change, the newest last.
    package var past: [[ProfileSource]] = []
    /// Whether the rules contain the rule that makes a tool act on everything; one key adds this rule.
    package var isOnEverything = false
    package var endsWhenSaved = false

    var editableTexts: [ProfileSource] { texts.isEmpty ? [ProfileSource(file: RulesState.newFile, text: "")] : texts }
    package var isUnsaved: Bool { texts.contains(where: \.isUnsaved) }
}

enum PanelView {
    static func place(_ count: Int, _ size: Size) -> Rect {
        OverlayView.place(width: 110, height: max(4, count + 1), size).inside
    }

    static func draw(_ panel: PanelState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let rules = model.panelRules(panel.tool)
        let title = "\(panel.tool.title): \(model.describe(panel.tool))"
        let inner = OverlayView.frame(title, width: 110, height: max(4, rules.count + 1), model, on: &screen)
        guard !rules.isEmpty else {
            let words = [
                "No rules yet.", "a adds one, from the selected exchange if there is one.",
                "Rules are in the profile; ctrl-s saves it.",
            ]
            for (row, line) in words.enumerated() where row < inner.height {
                screen.write(line, x: inner.x, y: inner.y + row, style: theme.faint, limit: inner.width)
            }
            return
        }
        let counts = model.proxy.tool(panel.tool)?.counts
        for (index, isSelected, line) in OverlayView.rows(rules.count, selected: panel.selected, in: inner) {
            let rule = rules[index]
            let base = isSelected ? theme.selection : rule.isEnabled ? .plain : theme.faint
            screen.fill(line, style: base)
            let name = rule.name.map { "\($0): " } ?? ""
            let count =
                counts?.first { $0.rule == rule.name ?? "rule \(index + 1)" }.map { " (\($0.count.grouped))" } ?? ""
            let text = "\(isSelected ? ">" : " ") [\(rule.isEnabled ? "x" : " ")] \(name)\(rule.summary)\(count)"
            screen.write(text, x: line.x, y: line.y, style: base, limit: line.width)
            guard let problem = rule.problem else { continue }
            let width = min(TextWidth.columns(problem), line.width / 2)
            screen.write(problem, x: line.maxX - width, y: line.y, style: theme.style(.failure), limit: width)
        }
    }
}
