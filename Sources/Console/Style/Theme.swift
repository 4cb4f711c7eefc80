import HTTPModel
package import Sharing
package import Terminal

/// The colours and attributes of each role.
package enum Theme: String, CaseIterable, Sendable, Hashable {
    case dark, light
    /// Without colours: bold, dim, underline and reverse only.
    case plain

    package func style(_ role: Role) -> Style {
        switch role {
        case .text, .image: .plain
        case .faint, .comment, .punctuation: faint
        case .heading: Style(accent, on: .standard, .bold)
        case .label: Style(color(246, 240))
        case .key, .attribute: Style(color(110, 25))
        case .string: Style(color(150, 28))
        case .number: Style(color(215, 130))
        case .literal, .keyword: Style(color(176, 90))
        case .tag: Style(color(80, 30))
        case .link: Style(color(75, 26), on: .standard, .underline)
        case .success, .added: Style(color(114, 28), on: .standard, self == .plain ? .bold : [])
        case .redirect: Style(color(80, 30))
        case .clientError, .warning, .changed: Style(color(221, 130), on: .standard, self == .plain ? .bold : [])
        case .serverError, .failure, .removed: Style(color(203, 124), on: .standard, .bold)
        case .match: Style(color(16, 16), on: color(221, 220), self == .plain ? .reverse : [])
        }
    }

    func style(_ span: Span) -> Style {
        span.pixels.map { Style(.palette($0.x), on: .palette($0.y)) } ?? style(span.role)
    }

    /// For titles and the open tab.
    var accent: Color { color(74, 25) }
    var faint: Style { Style(color(244, 242), on: .standard, self == .plain ? .dim : []) }

    /// For the titles of columns and the status line.
    var bar: Style { style(color(252, 235), on: color(236, 254), plain: .reverse) }

    /// The selected line, in the view that has the keys.
    var selection: Style { style(color(255, 16), on: color(24, 153), plain: .reverse) }

    /// The selected line, in a view without the keys.
    var dimSelection: Style { style(on: color(237, 253), plain: .underline) }

    var frame: Style { faint }
    var key: Style { Style(accent, on: .standard, .bold) }

    var alert: Style { style(color(16, 231), on: color(215, 130), .bold, plain: [.bold, .reverse]) }

    /// The background of a highlight, by its number from 1.
    func highlight(_ number: Int) -> Style {
        let dark: [UInt8] = [22, 53, 17, 58, 23, 52]
        let light: [UInt8] = [194, 225, 189, 230, 195, 224]
        let index = (number - 1) % dark.count
        return style(on: color(dark[index], light[index]), plain: .underline)
    }

    /// The background of an exchange that was given a colour.
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
        return style(on: color(dark, light), plain: .underline)
    }

    /// A style with other attributes where there are no colours.
    private func style(
        _ text: Color = .standard,
        on background: Color,
        _ attributes: Style.Attributes = [],
        plain: Style.Attributes
    ) -> Style { Style(text, on: background, self == .plain ? plain : attributes) }

    private func color(_ dark: UInt8, _ light: UInt8) -> Color {
        switch self {
        case .dark: .palette(dark)
        case .light: .palette(light)
        case .plain: .standard
        }
    }
}
