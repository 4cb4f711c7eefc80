import Sharing
import Terminal

/// The page from which a phone gets the certificate, as a QR code.
enum PhonePage {
    /// The page's address; `nil` where only this machine reaches the proxy.
    ///
    /// A proxy that listens on one address serves the page there. One that listens on all has several addresses, so the
    /// name is used that every client has for its proxy.
    static func address(_ proxy: String) -> String? {
        guard let colon = proxy.lastIndex(of: ":") else { return nil }
        let host = proxy[..<colon].lowercased()
        if host.hasPrefix("127.") || host == "localhost" || host == "[::1]" || host == "::1" { return nil }
        if host.isEmpty || host == "0.0.0.0" || host == "[::]" || host == "::" { return "http://sluice.proxy/" }
        return "http://\(proxy)/"
    }

    /// The blank modules around a code.
    private static let margin = 2

    /// The rows of a code for an address; `nil` where it is too long for one.
    static func rows(_ address: String, _ look: Look) -> [[Span]]? {
        guard let code = QRCode(address) else { return nil }
        let places = -margin..<code.side + margin
        guard look.isUnicode else {
            // Readers accept light on dark as well as dark on light.
            return places.map { y in [Span(places.map { code[$0, y] ? "  " : "##" }.joined(), .text)] }
        }
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { y in
            let signs = places.map { x -> String in
                // Without colours the characters themselves are the light modules.
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
