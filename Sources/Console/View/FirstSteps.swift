import HTTPModel
import Runner
import Sharing
import Text

/// How to point a client at the proxy: what the empty screen and the page of `!` say.
package struct FirstSteps: Sendable, Hashable {
    static let title = "Point a client here, and let it trust Sluice"

    /// Something to type or paste, copied by the key of its number.
    struct Item: Hashable {
        var title: String
        var text: String
        /// Whether it is for a shell.
        var isCommand = true
    }

    /// Where the proxy listens as a forward proxy, as `host:port`; empty where it is none.
    var proxy: String
    /// The other listeners.
    var others: [ListenerState]
    /// The path of the authority's certificate.
    var authority: String
    /// The addresses of this machine in its networks.
    var addresses: [String]
    var look: Look
    /// Whether keys copy, and a code can be looked at.
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

    /// Hosts that mean all addresses of a machine, and are none to type.
    private static let everyHost: Set = ["", "0.0.0.0", "[::]", "::", "*"]

    /// Whether the proxy listens on all addresses, so that none of them is its own.
    private var isEverywhere: Bool { FirstSteps.everyHost.contains(place.host) }

    /// The address to type on this machine.
    var here: String { isEverywhere ? "127.0.0.1:\(place.port)" : proxy }

    /// The addresses to type on other machines; empty where none reaches the proxy.
    var elsewhere: [String] {
        guard !proxy.isEmpty, PhonePage.address(proxy) != nil else { return [] }
        guard isEverywhere else { return [proxy] }
        return addresses.map { $0.contains(":") ? "[\($0)]:\(place.port)" : "\($0):\(place.port)" }
    }

    /// All addresses to type, as a sentence has them.
    var everywhere: String {
        let own = proxy.isEmpty ? [] : [here] + elsewhere.filter { $0 != here }
        let all = (own + others.map { "\($0.address) (\($0.mode))" }).prefix(4)
        return all.count < 2 ? all.first ?? here : all.dropLast().joined(separator: ", ") + " and " + (all.last ?? "")
    }

    var items: [Item] {
        let certificate = Item(title: "the certificate for it to trust", text: authority, isCommand: false)
        return (proxy.isEmpty ? [] : forwardItems) + others.map(FirstSteps.item) + [certificate]
    }

    /// What to ask in place of a server, or how to get to a listener that is no proxy of HTTP.
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
        [
            Item(
                title: "curl",
                text: "curl --proxy \(here) --cacert \(ShellLines.word(authority)) https://example.com/"
            ),
            Item(title: "one program, with everything set for it", text: "sluice run -- npm test"),
            Item(
                title: "a shell and all it starts",
                text: "export http_proxy=http://\(here) https_proxy=http://\(here)"
            ),
            Item(title: "a browser: HTTP and HTTPS proxy", text: here, isCommand: false),
        ]
    }

    /// The items, each with its number and the lines of its text, for lines of a width.
    func blocks(width: Int) -> [[DetailLine]] {
        items.enumerated().map { index, item in
            let number = isOnScreen ? [Span("\(index + 1) ", .key)] : []
            let title = DetailLine(number + [Span(item.title, .label)], indent: 2)
            guard item.isCommand, isOnScreen else { return [title, DetailLine([Span(item.text, .string)], indent: 4)] }
            let rows = ShellLines.rows(item.text, width: width - 4)
            let isFlush = rows.contains(where: \.isFlush)
            return [title]
                + rows.map { row in
                    var line = DetailLine([Span(row.text, .string)], indent: isFlush ? 0 : 4, wraps: false)
                    // Whichever row the cursor is on, the command is copied whole.
                    line.copyable = .command(item.text)
                    return line
                }
        }
    }

    /// What to do with a phone.
    var phone: String {
        guard !proxy.isEmpty else { return "start with --mode regular@0.0.0.0:8080 --allow NETWORK as well" }
        guard let address = PhonePage.address(proxy) else {
            return "start with --listen 0.0.0.0:\(place.port) --allow NETWORK, so that it reaches this machine"
        }
        let first = elsewhere.first ?? ""
        let host = first.isEmpty ? "this machine's address" : String(first.dropLast(place.port.count + 1))
        return "proxy in the Wi-Fi settings: \(host), port \(place.port); then open \(address)"
    }

    /// The page of `!`, above how to trust the certificate: the address first.
    func lines(width: Int) -> [DetailLine] {
        guard !proxy.isEmpty || !others.isEmpty else { return [] }
        var lines: [DetailLine] = []
        if !proxy.isEmpty { lines = [DetailLine([Span("HTTP and HTTPS proxy: ", .label), Span(here, .heading)])] }
        for listener in others {
            lines.append(DetailLine([Span("\(listener.mode): ", .label), Span(listener.address, .heading)]))
        }
        if !elsewhere.isEmpty {
            let others = elsewhere.filter { $0 != here }.joined(separator: ", ")
            if !others.isEmpty {
                lines.append(DetailLine([Span("From other machines:  ", .label), Span(others, .heading)]))
            }
        }
        if isOnScreen {
            lines.append(DetailLine([Span("1 to \(items.count)", .key), Span(" copies what has that number.")]))
        }
        for block in blocks(width: width) { lines += [DetailLine([])] + block }
        lines += [DetailLine([]), DetailLine([Span("a phone", .label)], indent: 2)]
        lines.append(DetailLine([Span(phone, .string)], indent: 4))
        if isOnScreen, !proxy.isEmpty, let address = PhonePage.address(proxy), let rows = PhonePage.rows(address, look)
        {
            lines += rows.map { DetailLine($0, indent: 2, wraps: false) }
        }
        return lines + [DetailLine([])]
    }
}

extension ConsoleModel {
    /// What a key of a number copies: on the empty screen and on the page of `!`.
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

    /// Says once for each host what to do where a client does not trust the certificate; it stays until a key is pressed, or for two minutes.
    mutating func tellOfTrust(_ record: ExchangeRecord) {
        guard isLive, openedAt > 0, record.startedAt >= openedAt - 1_000_000 else { return }
        let host = record.url.authority
        guard record.isByUntrustingClient else { return }
        let isRefused = record.kind == .tunnel
        guard toldHosts.count < 1_000, toldHosts.insert("\(host) \(isRefused)").inserted else { return }
        // Two rows of 80 columns, as a full list leaves no more.
        let rejected = "\(host): the client rejected Sluice's certificate"
        let setup = "Press \(way(to: .trust)) for setup commands"
        let retry = way(to: .decrypt)
        let words =
            isRefused
            ? "\(rejected), so it is not decrypted. \(setup), then \(retry) on the row to retry decryption."
            : "\(rejected). \(setup), then try again; \(retry) on a refused row retries decryption."
        tell(words, .error)
        notices[notices.count - 1].isPinned = true
    }
}
