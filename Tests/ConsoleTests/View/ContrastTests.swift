import Foundation
import HTTPModel
import Support
import Testing

@testable import Console
@testable import Description
@testable import Terminal

/// That all can be read, on the palettes that terminals have.
struct ContrastTests {
    typealias RGB = (red: Int, green: Int, blue: Int)

    struct Palette: Sendable, CustomTestStringConvertible {
        var name: String
        var sixteen: [Int]
        /// Text and background of a dark and of a light profile.
        var dark: (Int, Int)
        var light: (Int, Int)
        var testDescription: String { name }
    }

    static let palettes = [
        Palette(
            name: "VGA, Linux console",
            sixteen: [
                0x000000, 0xAA0000, 0x00AA00, 0xAA5500, 0x0000AA, 0xAA00AA, 0x00AAAA, 0xAAAAAA, 0x555555, 0xFF5555,
                0x55FF55, 0xFFFF55, 0x5555FF, 0xFF55FF, 0x55FFFF, 0xFFFFFF,
            ],
            dark: (0xAAAAAA, 0x000000),
            light: (0x000000, 0xFFFFFF)
        ),
        Palette(
            name: "xterm",
            sixteen: [
                0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000,
                0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
            ],
            dark: (0xE5E5E5, 0x000000),
            light: (0x000000, 0xFFFFFF)
        ),
        Palette(
            name: "Terminal.app",
            sixteen: [
                0x000000, 0xC23621, 0x25BC24, 0xADAD27, 0x492EE1, 0xD338D3, 0x33BBC8, 0xCBCCCD, 0x818383, 0xFC391F,
                0x31E722, 0xEAEC23, 0x5833FF, 0xF935F8, 0x14F0F0, 0xE9EBEB,
            ],
            dark: (0xFFFFFF, 0x1E1E1E),
            light: (0x000000, 0xFFFFFF)
        ),
        Palette(
            name: "Windows console",
            sixteen: [
                0x0C0C0C, 0xC50F1F, 0x13A10E, 0xC19C00, 0x0037DA, 0x881798, 0x3A96DD, 0xCCCCCC, 0x767676, 0xE74856,
                0x16C60C, 0xF9F1A5, 0x3B78FF, 0xB4009E, 0x61D6D6, 0xF2F2F2,
            ],
            dark: (0xCCCCCC, 0x0C0C0C),
            light: (0x0C0C0C, 0xF2F2F2)
        ),
        Palette(
            name: "Solarized",
            sixteen: [
                0x073642, 0xDC322F, 0x859900, 0xB58900, 0x268BD2, 0xD33682, 0x2AA198, 0xEEE8D5, 0x002B36, 0xCB4B16,
                0x586E75, 0x657B83, 0x839496, 0x6C71C4, 0x93A1A1, 0xFDF6E3,
            ],
            dark: (0x839496, 0x002B36),
            light: (0x657B83, 0xFDF6E3)
        ),
        Palette(
            name: "Tango",
            sixteen: [
                0x2E3436, 0xCC0000, 0x4E9A06, 0xC4A000, 0x3465A4, 0x75507B, 0x06989A, 0xD3D7CF, 0x555753, 0xEF2929,
                0x8AE234, 0xFCE94F, 0x729FCF, 0xAD7FA8, 0x34E2E2, 0xEEEEEC,
            ],
            dark: (0xD3D7CF, 0x2E3436),
            light: (0x2E3436, 0xEEEEEC)
        ),
    ]

    private static func color(_ color: Color, _ palette: Palette, _ standard: Int) -> Int {
        switch color {
        case .standard: return standard
        case .ansi(let number): return palette.sixteen[Int(number)]
        case .palette(let number) where number < 16: return palette.sixteen[Int(number)]
        case .palette(let number) where number >= 232:
            let grey = 8 + 10 * (Int(number) - 232)
            return grey << 16 | grey << 8 | grey
        case .palette(let number):
            let index = Int(number) - 16
            let levels = [index / 36, index / 6 % 6, index % 6].map { $0 == 0 ? 0 : 55 + 40 * $0 }
            return levels[0] << 16 | levels[1] << 8 | levels[2]
        }
    }

    /// WCAG 2.2, "relative luminance".
    private static func luminance(_ color: Int) -> Double {
        let parts = [color >> 16, color >> 8 & 255, color & 255].map { part -> Double in
            let value = Double(part) / 255
            return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    static func contrast(_ first: Int, _ second: Int) -> Double {
        let (a, b) = (luminance(first), luminance(second))
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    @Test func `contrast is measured as elsewhere`() {
        #expect(abs(Self.contrast(0x000000, 0xFFFFFF) - 21) < 0.01)
        #expect(abs(Self.contrast(0x777777, 0xFFFFFF) - 4.48) < 0.01)
    }

    /// All pairs that any screen has, with a selected, a marked and a highlighted row, or a theme names.
    private static func styles(_ look: Look) -> Set<Style> {
        var styles: Set<Style> = []
        for screen in Screens.all {
            let drawn = ConsoleView.draw(screen.make(Size(width: 160, height: 40), look))
            for y in 0..<40 { for x in 0..<160 where drawn[x, y].text != " " { styles.insert(drawn[x, y].style) } }
        }
        let theme = look.theme
        styles.formUnion(Role.allCases.map { theme.style($0) })
        styles.formUnion([theme.bar, theme.selection, theme.dimSelection, theme.alert, theme.key, theme.faint])
        styles.formUnion((1...6).map { theme.highlight($0) })
        styles.formUnion(ExchangeAnnotation.Colour.allCases.map { theme.style($0) } + [theme.frame])
        return styles
    }

    @Test(arguments: [ColorDepth.none, .ansi8, .ansi16, .palette256])
    func `every pair of text and background can be read on every palette`(_ depth: ColorDepth) {
        for theme in Theme.allCases {
            // What the terminal gets.
            let styles = Set(Self.styles(Look(theme: theme, depth: depth)).map { $0.degraded(to: depth) })
            #expect(styles.count > 3)
            for style in styles {
                let isOwn = style.foreground == .standard && style.background == .standard
                #expect(theme == .plain || !style.attributes.contains(.dim), "dim halves the contrast: \(style)")
                for palette in Self.palettes {
                    let profiles = theme == .dark ? [palette.dark] : theme == .light ? [palette.light] : []
                    for (text, behind) in profiles.isEmpty ? [palette.dark, palette.light] : profiles {
                        let front = Self.color(Self.shown(style), palette, text)
                        let back = Self.color(style.background, palette, behind)
                        let contrast = Self.contrast(front, back)
                        // Of the terminal's own two colours, the user chose the contrast; results are single bold or short
                        // words, and have signs besides.
                        let isResult = depth != .palette256 && Self.isResult(style)
                        let least = isOwn ? min(4.5, Self.contrast(text, behind)) : isResult ? 3 : 4.5
                        #expect(contrast >= least, "\(theme.rawValue) on \(palette.name): \(style) has \(contrast)")
                    }
                }
            }
        }
    }

    private static func isResult(_ style: Style) -> Bool {
        if case .ansi = style.foreground { style.background == .standard } else { false }
    }

    /// The colour that a terminal of eight colours shows bold text in: the bright one.
    private static func shown(_ style: Style) -> Color {
        guard case .ansi(let number) = style.foreground, style.attributes.contains(.bold), number < 8 else {
            return style.foreground
        }
        return .ansi(number + 8)
    }

    @Test(arguments: [ColorDepth.ansi8, .ansi16, .palette256])
    func `an answer, an error of the request and one of the server have different colours`(_ depth: ColorDepth) {
        for theme in [Theme.dark, .light] {
            let styles = [Role.success, .redirect, .clientError, .serverError].map { theme.at(depth).style($0) }
            #expect(Set(styles.map { $0.degraded(to: depth).foreground }).count == 4, "\(theme.rawValue)")
        }
    }

    @Test(arguments: [ColorDepth.none, .ansi8, .ansi16, .palette256], Theme.allCases)
    func `the selected row is told from the others, with the keys and without`(_ depth: ColorDepth, _ theme: Theme) {
        let theme = theme.at(depth)
        let styles = [theme.selection, theme.dimSelection, .plain].map { $0.degraded(to: depth) }
        #expect(Set(styles).count == 3)
    }

    @Test func `a theme that is chosen keeps to what the terminal can show`() {
        var look = Look(theme: .dark, depth: .ansi8)
        #expect(look.theme.selection == Style(.standard, on: .standard, .reverse))
        look.theme = .light
        #expect(look.theme.selection == Style(.standard, on: .standard, .reverse) && look.theme == .light)
    }
}
