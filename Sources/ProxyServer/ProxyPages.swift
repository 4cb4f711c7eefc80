import ExchangeCore
import HTTPModel
import NIOCore
import Synchronization
import Wire

/// Pages about the proxy and its authority, at its own address and at `http://sluice.proxy/` through it.
struct ProxyPages: Stage {
    static let host = "sluice.proxy"

    let id = StageID("sluice", order: 0)
    let shared: SharedState

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        let answer = answer(to: opening.url.path, method: opening.head.method)
        return RequestHeadHandler { _, _ in .respond(answer) }
    }

    static func isPage(_ path: String) -> Bool {
        ["", "/", "/ca.pem", "/ca.der", "/ca.cer", "/ca.crt", "/ca.mobileconfig"].contains(path)
    }

    static func isOwnHost(_ host: String, _ shared: SharedState) -> Bool {
        if host == "localhost" || host == ProxyPages.host { return true }
        return shared.ownAddresses.withLock { addresses in
            addresses.contains { address in
                guard let own = address.ipAddress else { return false }
                // A wildcard address means any address of this machine; these two are certain.
                return own == host || (own == "0.0.0.0" || own == "::") && (host == "127.0.0.1" || host == "::1")
            }
        }
    }

    private func answer(to path: String, method: String) -> LocalAnswer {
        let authority = shared.configuration.authority
        guard method == "GET" || method == "HEAD" else {
            let text = "This is the Sluice proxy itself; it only has pages to read."
            return .explanation(status: 405, title: "Only GET here", text: text, fields: [("Allow", "GET, HEAD")])
        }
        switch path {
        case "/", "": return page(authority)
        case "/ca.pem": return file(authority, .pem, "application/x-pem-file", "sluice-ca.pem")
        case "/ca.der", "/ca.cer", "/ca.crt":
            return file(authority, .der, "application/x-x509-ca-cert", "sluice-ca.cer")
        case "/ca.mobileconfig":
            return file(authority, .mobileconfig, "application/x-apple-aspen-config", "sluice-ca.mobileconfig")
        default:
            let text = "This is the Sluice proxy itself. Its pages are /, /ca.pem, /ca.der and /ca.mobileconfig."
            return .explanation(status: 404, title: "No such page", text: text)
        }
    }

    private func file(
        _ authority: CertificateAuthority,
        _ format: CertificateAuthority.ExportFormat,
        _ type: String,
        _ name: String
    ) -> LocalAnswer {
        do {
            let body = ByteBuffer(bytes: try authority.export(format))
            let fields = [
                ("Content-Type", type),
                ("Content-Disposition", "attachment; filename=\"\(name)\""),
                ("Content-Length", String(body.readableBytes)),
                ("Cache-Control", "no-store"),
            ]
            return LocalAnswer(head: ResponseHead(status: 200, fields: fields), body: body)
        } catch {
            return .explanation(status: 500, title: "The certificate could not be exported", text: "\(error)")
        }
    }

    private func page(_ authority: CertificateAuthority) -> LocalAnswer {
        let html = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Sluice</title>
            <style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}
            code{background:#8882;padding:.1em .3em;border-radius:3px;word-break:break-all}li{margin:.4rem 0}</style></head>
            <body><h1>Sluice</h1>
            <p>This is a Sluice HTTP debugging proxy, and you reached it. Whoever runs it can read the traffic that
            you send through it.</p>
            <p>To let it read HTTPS, trust its certificate authority on this device:</p>
            <ul>
            <li><a href="/ca.mobileconfig">Profile for iPhone, iPad and Mac</a> (<code>.mobileconfig</code>): install it,
            then turn on full trust in Settings, General, About, Certificate Trust Settings</li>
            <li><a href="/ca.der">Certificate for Android and Windows</a> (DER)</li>
            <li><a href="/ca.pem">Certificate for Linux, curl, Python, Node</a> (PEM)</li>
            </ul>
            <p>SHA-256 fingerprint, to compare with <code>sluice ca show</code>:<br><code>\(authority.fingerprint)</code></p>
            </body></html>

            """
        let fields = [("Cache-Control", "no-store")]
        return LocalAnswer(status: 200, contentType: "text/html; charset=utf-8", text: html, fields: fields)
    }
}

final class DiscardingSink: RecordSink { func record(_ event: RecordEvent) {} }
