import Description
import HTTPModel
import NIOCore
import Runner
import Text

/// How to connect a client to the proxy: the content of the empty screen and of the page of `!`.
package struct FirstSteps: Sendable, Hashable {
    static let title = "Point a client here, and let it trust Sluice"

    /// A command or address to type or paste; the key with its number copies it.
    struct Item: Hashable {
        var title: String
        var text: String
        var isCommand = true
    }

    /// The address of the forward proxy, as `host:port`; empty if there is no forward proxy.
    var proxy: String
    var others: [ListenerState]
    var authority: String
    var addresses: [String]
    var look: Look
    /// Whether keys can copy entries, and a QR code can be shown.
    var isOnScreen: Bool

    init(_ model: ConsoleModel) {
        (proxy, authority) = (model.proxy.forward ?? "", model.proxy.authorityPath)
        others = model.proxy.listeners.filter { !$0.isForward }
        (addresses, look, isOnScreen) = (model.proxy.addresses, model.look, !model.isLinear)
    }

    private var place: (host: String, port: String) { FirstSteps.place(proxy) }

    private static func place(_ address: String) -> (host: String, port: String) {
        guard let colon = address.lastIndex(of: ":") else { return (address, "8080") }
        return (String(address[..<colon]), String(address[address.index(after: colon)...]))
    }

    /// Listen addresses that mean all addresses of a machine; a client cannot connect to them.
    static let everyHost: Set = ["", "0.0.0.0", "[::]", "::", "*"]

    private var isEverywhere: Bool { FirstSteps.everyHost.contains(place.host) }

    var here: String { isEverywhere ? "127.0.0.1:\(place.port)" : proxy }

    /// The proxy's addresses for other machines; empty if other machines cannot reach the proxy.
    var elsewhere: [String] {
        guard !proxy.isEmpty, PhonePage.address(proxy) != nil else { return [] }
        guard isEverywhere else { return [proxy] }
        return addresses.map { $0.contains(":") ? "[\($0)]:\(place.port)" : "\($0):\(place.port)" }
    }

    var everywhere: String {
        let own = proxy.isEmpty ? [] : [here] + elsewhere.filter { $0 != here }
        let all = (own + others.map { "\($0.address) (\($0.mode))" }).prefix(4)
        return all.count < 2 ? all.first ?? here : all.dropLast().joined(separator: ", ") + " and " + (all.last ?? "")
    }

    var items: [Item] {
        let certificate = Item(title: "the certificate for it to trust", text: authority, isCommand: false)
        return (proxy.isEmpty ? [] : forwardItems) + others.map(FirstSteps.item) + [certificate]
    }

    /// How clients reach a listener that is not an HTTP forward proxy.
    private static func item(_ listener: ListenerState) -> Item {
        let (host, port) = place(listener.address)
        let address = everyHost.contains(host) ? "127.0.0.1:\(port)" : listener.address
        let parts = listener.mode.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0] == "reverse" else {
            return listener.mode == "transparent"
                ? Item(title: "rules that redirect connections here", text: "sluice transparent --print --port \(port)")
                : Item(title: "a SOCKS proxy", text: "\(listener.mode)h://\(address)", isCommand: false)
        }
        let isHTTP = parts[1].hasPrefix("http")
        return Item(title: "in place of \(parts[1])", text: isHTTP ? "http://\(address)/" : address, isCommand: false)
    }

    private var forwardItems: [Item] {
        let commands = [
            ("curl", "curl --proxy \(here) --cacert \(ShellLines.word(authority)) https://example.com/"),
            ("one program, with everything set for it", "sluice run -- npm test"),
            ("a shell and all it starts", "export http_proxy=http://\(here) https_proxy=http://\(here)"),
        ]
        let browser = Item(title: "a browser: HTTP and HTTPS proxy", text: here, isCommand: false)
        return commands.map { Item(title: $0, text: $1) } + [browser]
    }

    func blocks(width: Int) -> [[DetailLine]] {
        let listed = items.enumerated().map { index, item in
            let number = isOnScreen ? [Span("\(index + 1) ", .key)] : []
            let title = DetailLine(number + [Span(item.title, .label)], indent: 2)
            guard item.isCommand, isOnScreen else { return [title, DetailLine([Span(item.text, .string)], indent: 4)] }
            let rows = ShellLines.rows(item.text, width: width - 4)
            let indent = rows.contains(where: \.isFlush) ? 0 : 4
            return [title]
                + rows.map { row in
                    var line = DetailLine([Span(row.text, .string)], indent: indent, wraps: false)
                    // Every row of a wrapped command copies the whole command.
                    line.copyable = .command(item.text)
                    return line
                }
        }
        let label = DetailLine([Span("a phone", .label)], indent: 2)
        return listed + [[label, DetailLine([Span(phone, .string)], indent: 4)]]
    }

    var phone: String {
        guard !proxy.isEmpty else { return "start with --mode regular@0.0.0.0:8080 --allow NETWORK as well" }
        guard let address = PhonePage.address(proxy) else {
            return "start with --listen 0.0.0.0:\(place.port) --allow NETWORK, so that it reaches this machine"
        }
        let first = elsewhere.first ?? ""
        let host = first.isEmpty ? "this machine's address" : String(first.dropLast(place.port.count + 1))
        return "proxy in the Wi-Fi settings: \(host), port \(place.port); then open \(address)"
    }

    /// The first part of the page of `!`, above how to trust the certificate. It begins with the address.
    func lines(width: Int) -> [DetailLine] {
        guard !proxy.isEmpty || !others.isEmpty else { return [] }
        let further = elsewhere.filter { $0 != here }.joined(separator: ", ")
        let own = proxy.isEmpty ? [] : [("HTTP and HTTPS proxy: ", here)]
        let all = own + others.map { ("\($0.mode): ", $0.address) } + [("From other machines:  ", further)]
        var lines = all.filter { !$0.1.isEmpty }.map { DetailLine([Span($0, .label), Span($1, .heading)]) }
        if isOnScreen {
            lines.append(DetailLine([Span("1 to \(items.count)", .key), Span(" copies the entry with that number.")]))
        }
        for block in blocks(width: width) { lines += [DetailLine([])] + block }
        if isOnScreen, !proxy.isEmpty, let address = PhonePage.address(proxy), let rows = PhonePage.rows(address, look)
        {
            lines += rows.map { DetailLine($0, indent: 2, wraps: false) }
        }
        return lines + [DetailLine([])]
    }
}

extension ConsoleModel {
    /// The entry that a number key copies on the empty screen and on the page of `!`; `nil` elsewhere.
    func firstStep(_ number: Int) -> FirstSteps.Item? {
        let isPage: Bool
        switch overlays.last {
        case .report(let report): isPage = report.title == FirstSteps.title
        case .some: return nil
        case nil: isPage = context == .list && EmptyView.isWaiting(self)
        }
        let items = FirstSteps(self).items
        return isPage && items.indices.contains(number - 1) ? items[number - 1] : nil
    }

    /// Reports once per host what to do if a client does not trust the certificate. The notice is pinned.
    mutating func tellOfTrust(_ record: ExchangeRecord) {
        guard isLive, openedAt > 0, record.startedAt >= openedAt - 1_000_000 else { return }
        let host = record.url.authority
        guard record.isByUntrustingClient else { return }
        let isRefused = record.kind == .tunnel
        guard toldHosts.count < 1_000, toldHosts.insert("\(host) \(isRefused)").inserted else { return }
        // At most two rows of 80 columns, because a full list leaves no more space.
        let rejected = "\(host): the client rejected Sluice's certificate"
        let setup = "Press \(way(to: .trust)) for setup commands"
        let retry = way(to: .decrypt)
        let words =
            isRefused
            ? "\(rejected), so it is not decrypted. \(setup), then \(retry) on the row to retry decryption."
            : "\(rejected). \(setup), then try again; \(retry) on a refused row retries decryption."
        pin(words, .error)
    }
}

enum PhonePage {
    /// The page's address; `nil` if only this machine can reach the proxy. If the proxy listens on all addresses, the
    /// page has a name instead, which every client can open through the proxy.
    static func address(_ proxy: String) -> String? {
        guard let colon = proxy.lastIndex(of: ":") else { return nil }
        let host = proxy[..<colon].lowercased()
        if host.hasPrefix("127.") || ["localhost", "[::1]", "::1"].contains(host) { return nil }
        return FirstSteps.everyHost.contains(host) ? "http://sluice.proxy/" : "http://\(proxy)/"
    }

    private static let margin = 2

    /// The rows of a QR code for an address; `nil` if the address is too long for a code.
    static func rows(_ address: String, _ look: Look) -> [[Span]]? {
        guard let code = QRCode(address) else { return nil }
        let places = -margin..<code.side + margin
        guard look.isUnicode else {
            return places.map { y in [Span(places.map { code[$0, y] ? "  " : "##" }.joined(), .text)] }
        }
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { y in
            let signs = places.map { x -> String in
                // Without colours, block characters draw the light modules instead of the dark ones.
                let isLight = !look.theme.hasColours
                let isBelow = y + 1 < places.upperBound ? code[x, y + 1] : false
                switch (code[x, y] != isLight, isBelow != isLight) {
                case (true, true): return "█"
                case (true, false): return "▀"
                case (false, true): return "▄"
                case (false, false): return " "
                }
            }
            return [Span(signs.joined(), .image, pixels: look.theme.hasColours ? [16, 231] : nil)]
        }
    }
}

enum ShellLines {
    /// A row of a command. A row that continues a word is not indented, because a space would end the word.
    struct Row: Hashable {
        var text: String
        var isFlush = false
    }

    /// Breaks a command into rows of at most `width` columns: at spaces, or within a word that is too long. Every row
    /// but the last ends with `\`, which a shell removes together with the line break.
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

    /// A text as one shell word. It is not quoted, because a quoted word could not be broken into rows.
    static func word(_ text: String) -> String {
        text.map { character in
            let isPlain = character.isLetter || character.isNumber || "-_./:=@%+,".contains(character)
            return isPlain ? String(character) : "\\\(character)"
        }.joined()
    }

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

    /// The last position with at most `columns` columns before it that does not separate a `\` from its character.
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

enum LocalAddresses {
    /// The addresses as text, IPv4 first, without loopback and link-local addresses. Queries the system.
    static func all() -> [String] {
        let devices = (try? System.enumerateDevices()) ?? []
        let addresses = devices.compactMap { $0.address?.ipAddress }.filter(isReachable)
        var seen: Set<String> = []
        let unique = addresses.filter { seen.insert($0).inserted }
        return unique.filter { !$0.contains(":") } + unique.filter { $0.contains(":") }
    }

    static func isReachable(_ address: String) -> Bool {
        let address = address.lowercased()
        let isLocal = address.hasPrefix("127.") || address == "::1" || address == "0.0.0.0" || address == "::"
        // Link-local addresses (RFC 3927, RFC 4291 §2.5.6) are valid on one link only.
        return !isLocal && !address.hasPrefix("169.254.") && !address.hasPrefix("fe80:")
    }
}
