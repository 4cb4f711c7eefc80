import Foundation
import Jobs
import Runner
import Terminal

struct TerminalCheck {
    let environment: [String: String]
    var size = TerminalCheck.currentSize

    private static let smallest = (columns: 80, rows: 24)

    func findings() -> [Finding] { [kind(), locale(), dimensions(), clipboard()].compactMap { $0 } }

    static var currentSize: (columns: Int, rows: Int)? {
        for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO] {
            var size = winsize()
            if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 { return (Int(size.ws_col), Int(size.ws_row)) }
        }
        return nil
    }

    private func kind() -> Finding {
        let about = "terminal"
        guard let name = environment["TERM"], !name.isEmpty, name != "dumb" else {
            let text =
                "TERM is \(environment["TERM"].map { "'\($0)'" } ?? "not set"), so that the console is plain lines"
            return .note(about, text, fix: "export TERM=xterm-256color")
        }
        guard let entry = Terminfo(name: name) else {
            let text = "this machine knows no terminal '\(name)' (TERM); the console treats it as xterm"
            return .note(about, text, fix: "export TERM=xterm-256color")
        }
        let direct = ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "")
        let colours = direct ? "16 million colours" : entry.colors > 1 ? "\(entry.colors) colours" : "no colours"
        let mouse = entry.hasMouse ? "mouse" : "no mouse"
        if environment["NO_COLOR"]?.isEmpty == false {
            return .note(about, "\(name), \(mouse); NO_COLOR keeps colours away", fix: "unset NO_COLOR")
        }
        if entry.colors < 8 { return .note(about, "\(name), \(colours), \(mouse)", fix: "export TERM=xterm-256color") }
        return .ok(about, "\(name), \(colours), \(mouse)")
    }

    private func locale() -> Finding {
        let variable = ["LC_ALL", "LC_CTYPE", "LANG"].first { environment[$0]?.isEmpty == false }
        let name = variable.flatMap { environment[$0] } ?? "C"
        let fix = "export LC_ALL=C.UTF-8"
        guard let locale = newlocale(LC_CTYPE_MASK, name, nil) else {
            return .note("locale", "\(variable ?? "LANG")=\(name) is not on this machine", fix: fix)
        }
        defer { freelocale(locale) }
        let codeset = nl_langinfo_l(nl_item(CODESET), locale).map { String(cString: $0) } ?? ""
        guard codeset.uppercased() == "UTF-8" else {
            let from = variable.map { "\($0)=\(name)" } ?? "none is set"
            return .note("locale", "\(from): letters beyond ASCII and lines cannot be drawn", fix: fix)
        }
        return .ok("locale", name)
    }

    private func dimensions() -> Finding? {
        guard let size else { return .note("size", "not a terminal; the console needs one", fix: "sluice run") }
        let text = "\(size.columns) × \(size.rows)"
        guard size.columns >= Self.smallest.columns, size.rows >= Self.smallest.rows else {
            let wanted = "\(Self.smallest.columns) × \(Self.smallest.rows)"
            return .note("size", "\(text); the console is made for \(wanted) and more", fix: "sluice --linear")
        }
        return .ok("size", text)
    }

    private func clipboard() -> Finding {
        let about = "clipboard"
        let isRemote = environment["SSH_CONNECTION"] != nil || environment["SSH_TTY"] != nil
        let isInTmux = environment["TMUX"] != nil
        if !isRemote {
            let tools = Self.tools(environment)
            if let tool = tools.first(where: isThere) { return .ok(about, "by \(tool)") }
            if !isInTmux, let tool = tools.first {
                let package = tool == "wl-copy" ? "wl-clipboard" : tool
                let text = "\(Self.absence(of: tools)); the terminal is asked to copy (OSC 52)"
                return .note(about, text, fix: RootCommand.line("apt-get install \(package)"))
            }
        }
        if isInTmux {
            if isThere("tmux") { return .ok(about, "by tmux, which also asks the terminal to copy (OSC 52)") }
            let text = "copying uses OSC 52, which tmux passes on only if configured"
            return .note(about, text, fix: "tmux set -g set-clipboard on")
        }
        return .ok(about, "the terminal is asked to copy (OSC 52)")
    }

    private static func absence(of tools: [String]) -> String {
        switch tools.count {
        case 1: "\(tools[0]) is not there"
        case 2: "neither \(tools[0]) nor \(tools[1]) is there"
        default: "none of \(tools.joined(separator: ", ")) is there"
        }
    }

    private static func tools(_ environment: [String: String]) -> [String] {
        #if os(macOS)
        return ["pbcopy"]
        #else
        return (environment["WAYLAND_DISPLAY"] == nil ? [] : ["wl-copy"])
            + (environment["DISPLAY"] == nil ? [] : ["xclip", "xsel"])
        #endif
    }

    private func isThere(_ tool: String) -> Bool { (try? ChildCommand([tool], environment: environment)) != nil }
}
