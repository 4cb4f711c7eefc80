import Guide
import Rules
import Sharing
import Terminal
import Tools

/// The guide's pages, on the screen and on lines.
extension ConsoleModel {
    /// The topic that is about what has the keys.
    var guideTopic: String {
        for overlay in overlays.reversed() {
            switch overlay {
            case .panel(let panel): return panel.tool.key
            case .holds: return holdingTopic
            case .editor(let editor):
                switch editor.purpose {
                case .rule(let tool, _): return tool.key
                case .hold: return holdingTopic
                case .request, .newRequest: return "repeat-and-compare"
                }
            case .picker(let picker) where picker.command == nil: return "keys"
            case .picker(let picker):
                if let topic = picker.command?.guideTopic { return topic }
            case .prompt(let prompt):
                if let topic = prompt.command.guideTopic { return topic }
            case .report(let report):
                if let topic = report.topic { return topic }
            case .confirm: continue
            }
        }
        return filter.isEditing ? "filters" : "console"
    }

    private var holdingTopic: String { ToolRegistry.standard.onEverything?.key ?? "console" }

    /// Opens the page of a topic; without one, the one about what has the keys, or on lines the list of all.
    mutating func openGuide(_ topic: String?) -> [Effect] {
        let guide = makeGuide()
        guard let topic = topic ?? (isLinear ? nil : guideTopic) else {
            return report("Guide", DetailDocument(lines: guide.pages.map { "\($0.topic): \($0.title)" }))
        }
        switch guide.find(topic) {
        case .page(let page): return report("Guide: \(page.title)", document(of: page))
        case .several(let topics):
            let known = topics.isEmpty ? guide.pages.map(\.topic) : topics
            return refuse("The guide has no page '\(topic.prefix(40))'; it has \(known.joined(separator: ", ")).")
        }
    }

    private func document(of page: GuidePage) -> DetailDocument {
        // What a report has room for beside its frame.
        let text = GuideText(width: min(size.width - 6, 100), isStyled: !isLinear)
        return DetailDocument(
            lines: text.lines(of: page).map { line in
                DetailLine(
                    line.map { run in
                        let role: Role =
                            switch run.style {
                            case .plain: .text
                            case .bold: .heading
                            case .code: .key
                            }
                        return Span(run.text, role)
                    }
                )
            }
        )
    }

    /// The topics of all pages, for completion and choice.
    static let guideTopics = Guide.topics
}

extension Command {
    /// The guide's page about what the command asks for; `nil` where there is none of its own.
    fileprivate var guideTopic: String? {
        switch self {
        case .filter, .highlight, .stats: "filters"
        case .searchBodies, .findInDetail, .columns, .sort, .jumpKind: "console"
        case .export, .copy: "export"
        case .openSession, .importSession, .saveSession: "sessions"
        case .saveProfile, .loadProfile: "profile"
        case .repeatAdvanced: "repeat-and-compare"
        case .preset: ToolRegistry.standard.withPresets?.key
        default: nil
        }
    }
}
