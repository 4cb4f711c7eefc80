import HTTPModel
import NIOCore
import Testing

@testable import Masking

/// Credentials as fields may write them: over folded lines, with quotes and backslashes, with and without parameters.
@Suite("Credentials before folded and escaped parameters")
struct FoldedCredentialTests {
    private static let token = "Zk93hd72Lm4Qx81p"
    private static let response = "6629fae49393a05397450978507c4ef1"
    private static let folds = [" ", "\r\n ", "\n\t", "\r\n \r\n\t "]

    /// Each scheme and what stands behind it, with `~` where a line may be folded, and the secrets of it.
    private static let forms: [(text: String, secrets: [String])] = {
        var forms: [(String, [String])] = []
        for separator in [",~", "~,~", ",", ";~"] {
            for realm in [#"realm="x""#, #"realm="a, token=\"b\" c""#, #"realm=x"#, #"realm = "a\\""#, #"realm="~""#] {
                for scheme in ["Bearer", "Own", "DPoP"] {
                    forms.append(("\(scheme)~\(token)\(separator)\(realm)", [token]))
                    forms.append(("\(scheme)~\(token)==\(separator)\(realm)\(separator)scope=\"r\"", ["\(token)=="]))
                }
                forms.append(("Token~token=\"\(token)\"\(separator)\(realm)", [token]))
                forms.append(("Token~\(realm)\(separator)token~=~\(token)", [token]))
                forms.append(("Bearer~\"\(token)\"\(separator)\(realm)", [token]))
                for user in [#""a\"b""#, #""a\\""#, #"\"a\""#, "bob", #""a,response=c""#] {
                    let digest = "Digest~username=\(user)\(separator)\(realm)\(separator)response=\"\(response)\""
                    forms.append((digest, [response]))
                    forms.append(("\(digest)\(separator)cnonce=\(token)", [response, token]))
                }
                forms.append(
                    (#"Digest~username=\"a\"\#(separator)\#(realm)\#(separator)response=\"\#(response)\""#, [response])
                )
            }
        }
        return forms
    }()

    private static func head(_ value: String) -> String { "GET / HTTP/1.1\r\nAuthorization: \(value)\r\n" }

    @Test("each secret is masked and known elsewhere, and what is no secret stays", arguments: folds)
    func combinations(fold: String) {
        for form in Self.forms {
            let value = form.text.replacing("~", with: fold)
            let elsewhere = form.secrets.map { "X-Note: \($0)\r\n" }.joined()
            let masked = Masked.head(Self.head(value) + elsewhere + "\r\n")
            for secret in form.secrets { #expect(!masked.contains(secret), "\(value) became \(masked)") }
            #expect(masked.contains("\r\nX-Note: sluice-"), "\(value) became \(masked)")
            let realm = form.text.contains(#"realm="x""#) ? #"realm="x""# : "realm"
            #expect(masked.contains(realm), "\(value) became \(masked)")
        }
    }

    @Test("no cut of a head traps or shows a secret", arguments: folds)
    func cuts(fold: String) {
        for (place, form) in Self.forms.enumerated() where place % 7 == 0 {
            let value = form.text.replacing("~", with: fold)
            let head = Array(Self.head(value).utf8)
            let mask = TextMask()
            let cuts = (1...head.count).map { ByteBuffer(bytes: head[..<$0]) }
            for cut in cuts { _ = HeadMask(mask: mask).masked(cut, isRequest: true) }
            mask.endCollecting()
            for isForPrograms in [false, true] {
                mask.book.isForPrograms = isForPrograms
                for cut in cuts {
                    let masked = String(buffer: HeadMask(mask: mask).masked(cut, isRequest: true).0)
                    for secret in form.secrets {
                        #expect(!masked.contains(secret.prefix(9)), "\(String(buffer: cut)) became \(masked)")
                    }
                }
            }
        }
    }

    @Test("no cut of a text with such a head traps", arguments: folds)
    func texts(fold: String) {
        let syntaxes: [ScanSyntax] = [.text, .form, .field, .markup, .script, .multipart]
        for (place, form) in Self.forms.enumerated() where place % 41 == 0 {
            let value = form.text.replacing("~", with: fold)
            let line = "Authorization: \(value)"
            let quoted = line.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\r", with: "\\r").replacing("\n", with: "\\n").replacing("\t", with: "\\t")
            for text in [line, "{\"head\":\"\(quoted)\"}"] {
                let bytes = Array(text.utf8)
                for syntax in syntaxes {
                    let mask = TextMask()
                    for end in 1...bytes.count {
                        _ = mask.masked(String(decoding: bytes[..<end], as: UTF8.self), syntax)
                    }
                    mask.endCollecting()
                    for end in 1...bytes.count {
                        _ = mask.masked(String(decoding: bytes[..<end], as: UTF8.self), syntax)
                    }
                }
                let whole = Masked.body(bytes, "text/plain", window: 16)
                for cut in 1..<bytes.count {
                    #expect(Masked.body(bytes, "text/plain", cuts: [cut], window: 16) == whole, "\(text) cut at \(cut)")
                }
            }
        }
    }

    @Test(
        "a token has the number that it has alone, and its parameters stay",
        arguments: [
            ("Bearer \(token),\r\n realm=\"x\"", "Bearer sluice-token-1,\r\n realm=\"x\""),
            ("Bearer \(token);\n\trealm=x", "Bearer sluice-token-1;\n\trealm=x"),
            ("Bearer\r\n \(token)", "Bearer\r\n sluice-token-1"),
            ("Own \(token), phrase=abcdefgh, realm=x", "Own sluice-token-1, phrase=sluice-token-2, realm=x"),
            ("Own \(token), realm=x, stray", "Own sluice-token-1, realm=x, sluice-token-2"),
        ]
    )
    func numbers(value: String, masked: String) {
        #expect(
            Masked.head("\(Self.head(value))X: Bearer \(Self.token)\r\n\r\n")
                == "\(Self.head(masked))X: Bearer sluice-token-1\r\n\r\n"
        )
    }

    @Test("an escaped secret is known without its backslashes; Basic before parameters, and a folded cookie and key")
    func others() {
        let digest = Masked.head(
            "\(Self.head(#"Digest token="ab\"cdefgh\\ij", realm="a\"b""#))X: ab\"cdefgh\\ij\r\n\r\n"
        )
        #expect(digest == "\(Self.head(#"Digest token="sluice-token-1", realm="a\"b""#))X: sluice-token-1\r\n\r\n")
        let basic = Masked.head("\(Self.head("Basic Ym9iOnBhc3N3MHJk,\r\n realm=\"x\""))X: passw0rd\r\n\r\n")
        #expect(basic == "\(Self.head("Basic sluice-credential-1,\r\n realm=\"x\""))X: sluice-password-1\r\n\r\n")
        let cookie = Masked.head(
            "GET / HTTP/1.1\r\nCookie: a=\(Self.token)\r\n ;\r\n sid=\(Self.response)\r\nX: \(Self.token)\r\n\r\n"
        )
        #expect(
            cookie
                == "GET / HTTP/1.1\r\nCookie: a=sluice-cookie-1\r\n ;\r\n sid=sluice-session-1\r\nX: sluice-cookie-1\r\n\r\n"
        )
        let key = Masked.head("GET / HTTP/1.1\r\nX-Api-Key: \(Self.token),\r\n more\r\nX: \(Self.token)\r\n\r\n")
        #expect(!key.contains(Self.token), "\(key)")
        // Words of no meaning behind a token, on its line and on the next.
        for (scheme, token) in [("Bearer", Self.token), ("Own", Self.token), ("Basic", "Ym9iOnBhc3N3MHJk")] {
            for more in [" -", "\r\n -", "\r\n more and more"] {
                let masked = Masked.head("\(Self.head("\(scheme) \(token)\(more)"))X: \(token)\r\n\r\n")
                #expect(!masked.contains(token), "\(masked)")
            }
        }
    }
}
