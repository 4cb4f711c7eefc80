package import Description
import HTTPModel
package import Terminal

/// The colours and attributes of each role, chosen for the colours of the terminal.
///
/// Text and background have a contrast of at least 4.5 : 1 (WCAG 2, 1.4.3) on the usual backgrounds. Eight or sixteen
/// colours differ from terminal to terminal: results, hosts and queries use those with a contrast of at least 3 : 1 on
/// the usual palettes. Everything else then has attributes and the terminal's two default colours.
package struct Theme: RawRepresentable, CaseIterable, Hashable, Sendable {
    package static let dark = Theme("dark")
    package static let light = Theme("light")
    /// Without colours: bold, dim, underline and reverse only.
    package static let plain = Theme("plain")
    package static let allCases = [dark, light, plain]

    package let rawValue: String
    /// The terminal's colour depth. The user does not choose it, so it does not count in comparisons.
    package private(set) var depth = ColorDepth.palette256

    private init(_ name: String) { rawValue = name }

    package init?(rawValue: String) {
        guard let theme = Theme.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = theme
    }

    package func at(_ depth: ColorDepth) -> Theme {
        var theme = self
        theme.depth = depth
        return theme
    }

    package static func == (left: Theme, right: Theme) -> Bool { left.rawValue == right.rawValue }
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    package func style(_ role: Role) -> Style {
        switch role {
        case .text, .image: .plain
        case .faint, .comment, .punctuation: faint
        case .heading: key
        case .label: style(249, 240)
        case .key, .attribute: style(110, 25)
        case .string: style(150, 22)
        case .number: style(215, 94)
        case .literal, .keyword: style(176, 90)
        case .tag: style(80, 23)
        case .redirect: style(80, 23, ansi: (6, 4))
        case .link: style(75, 26, .underline, few: .underline)
        case .success, .added: style(114, 22, few: .bold, ansi: (2, nil))
        case .clientError, .warning, .changed: style(221, 94, few: .bold, ansi: (3, 5))
        case .serverError, .failure, .removed: style(210, 124, .bold, few: .bold, ansi: (9, 1))
        case .match: style(16, 16, on: (221, 220), few: .reverse)
        }
    }

    func style(_ span: Span) -> Style {
        span.pixels.map { Style(.palette($0.x), on: .palette($0.y)) } ?? style(span.role)
    }

    var faint: Style { style(248, 241, few: self == .plain ? .dim : []) }

    /// For the titles of columns and the status line.
    var bar: Style { style(252, 235, on: (236, 254), few: .reverse) }

    /// The selected line, in the focused view and in other views.
    var selection: Style { style(255, 16, on: (24, 153), few: .reverse) }
    var dimSelection: Style { style(255, 16, on: (237, 253), few: .underline) }

    /// The host and the query. The path between them has the terminal's own colour.
    var host: Style { style(110, 25, ansi: (6, 4)) }
    var query: Style { style(248, 241, ansi: (2, 5)) }

    var frame: Style { faint }

    /// For keys, titles and the open tab.
    var key: Style {
        var style = style(74, 25, .bold, few: .bold)
        if self == .dark, depth == .ansi16 { style.foreground = .ansi(14) }
        return style
    }

    var alert: Style { style(16, 231, on: (215, 130), .bold, few: [.bold, .reverse]) }

    /// The background of a highlight, by its number from 1.
    func highlight(_ number: Int) -> Style {
        let dark: [UInt8] = [22, 53, 17, 58, 23, 52]
        let light: [UInt8] = [194, 225, 189, 230, 195, 224]
        let index = (number - 1) % dark.count
        return style(255, 16, on: (dark[index], light[index]), few: .underline)
    }

    func style(_ colour: ExchangeAnnotation.Colour) -> Style {
        let (dark, light): (UInt8, UInt8) =
            switch colour {
            case .red: (52, 224)
            case .orange: (94, 223)
            case .yellow: (58, 230)
            case .green: (22, 194)
            case .blue: (17, 189)
            case .purple: (53, 225)
            }
        return style(255, 16, on: (dark, light), few: .underline)
    }

    var hasColours: Bool { self != .plain && depth == .palette256 }

    /// A style for the dark and the light theme. With few colours, it has an `ansi` colour or the attributes in `few`.
    private func style(
        _ dark: UInt8,
        _ light: UInt8,
        on background: (dark: UInt8, light: UInt8)? = nil,
        _ attributes: Style.Attributes = [],
        few: Style.Attributes = [],
        ansi: (dark: UInt8?, light: UInt8?) = (nil, nil)
    ) -> Style {
        let isDark = self == .dark
        if self != .plain, [.ansi8, .ansi16].contains(depth), let number = isDark ? ansi.dark : ansi.light {
            return Style(.ansi(number), on: .standard, attributes)
        }
        guard hasColours else { return Style(.standard, on: .standard, few) }
        let behind = background.map { Color.palette(isDark ? $0.dark : $0.light) } ?? .standard
        return Style(.palette(isDark ? dark : light), on: behind, attributes)
    }
}
