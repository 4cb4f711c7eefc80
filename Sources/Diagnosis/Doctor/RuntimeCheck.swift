import Formats
import Foundation
import Runner

/// Runs each runtime that has its own authorities, and checks whether it trusts Sluice's authority.
struct RuntimeCheck: Sendable {
    let known: KnownAuthority
    let probe: ProbeCommand

    private var commands: TrustCommands { TrustCommands(file: ShellWord.word(known.file)) }

    func findings() async -> [Finding] {
        await Doctor.all([{ await self.java() }, { await self.node() }, { await self.python() }])
    }

    /// A runtime that cannot be run may trust the authority, so there is nothing to fix.
    func finding(_ about: String, _ answer: ProbeCommand.Answer, isTrusted: Bool, fix: String) -> Finding {
        switch answer {
        case .late:
            .note(about, "did not answer within \(probe.patience.components.seconds) s whether it trusts the authority")
        case .failed(let code): .note(about, "could not be asked (exit code \(code))")
        case .text:
            isTrusted ? .ok(about, "trusts the authority") : .note(about, "does not trust the authority", fix: fix)
        }
    }

    private func java() async -> [Finding] {
        guard let keytool = probe.path(of: "keytool") else { return [] }
        let store = ["-cacerts", "-storepass", TrustFiles.javaPassword]
        // With `-cacerts`, keytool lists the store of this Java; with `LC_ALL=C` its output is in English.
        let answer = await probe.ask([keytool, "-list"] + store, variables: ["LC_ALL": "C"])
        var isTrusted = false
        if case .text(let list) = answer {
            isTrusted = list.split(separator: "\n").contains { line in
                line.contains("SHA-256") && line.filter(\.isHexDigit).uppercased().hasSuffix(known.digest)
            }
        }
        return [finding("Java", answer, isTrusted: isTrusted, fix: commands.javaItself)]
    }

    private static let nodeScript = """
        const tls = require('tls'), fs = require('fs'), {X509Certificate} = require('crypto');
        const all = [...(tls.getCACertificates ? tls.getCACertificates('default') : tls.rootCertificates)];
        try {
          const text = fs.readFileSync(process.env.NODE_EXTRA_CA_CERTS || '', 'latin1');
          all.push(...text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g));
        } catch {}
        const digest = pem => { try { return new X509Certificate(pem).fingerprint256.replaceAll(':', ''); } catch { return ''; } };
        console.log(all.some(pem => digest(pem) === process.argv[1]) ? 'trusted' : 'unknown');
        """

    private func node() async -> [Finding] {
        guard let node = probe.path(of: "node") else { return [] }
        let answer = await probe.ask([node, "-e", Self.nodeScript, known.digest])
        let isTrusted = answer == .text("trusted\n")
        return [finding("Node", answer, isTrusted: isTrusted, fix: "export \(commands.node)")]
    }

    /// Prints whether the module ssl, and the package certifi of requests, know the authority.
    private static let pythonScript = #"""
        import glob, hashlib, os, ssl, sys
        def has(files):
            for file in files:
                try: text = open(file, encoding='latin-1').read()
                except (OSError, TypeError): continue
                for part in text.split('-----BEGIN CERTIFICATE-----')[1:]:
                    pem = '-----BEGIN CERTIFICATE-----' + part.split('-----END')[0] + '-----END CERTIFICATE-----\n'
                    try: der = ssl.PEM_cert_to_DER_cert(pem)
                    except ValueError: continue
                    if hashlib.sha256(der).hexdigest().upper() == sys.argv[1]: return 'trusted'
            return 'unknown'
        def bundle():
            try: import certifi
            except ImportError: return 'none'
            named = os.environ.get('REQUESTS_CA_BUNDLE') or os.environ.get('CURL_CA_BUNDLE')
            return has([named or certifi.where()])
        paths = ssl.get_default_verify_paths()
        standard = [paths.cafile] + glob.glob((paths.capath or '/nowhere') + '/*.[0-9]')
        sys.stdout.write(' '.join(['ssl', has(standard), 'certifi', bundle()]))
        """#

    private func python() async -> [Finding] {
        guard let python = probe.path(of: "python3") else { return [] }
        let answer = await probe.ask([python, "-c", Self.pythonScript, known.digest])
        var words: [Substring] = []
        if case .text(let text) = answer { words = text.split(whereSeparator: \.isWhitespace) }
        let knows = words.starts(with: ["ssl", "trusted"])
        let ssl = finding("Python", answer, isTrusted: knows, fix: "\(commands.openSSL) python3 …")
        guard words.count == 4, words[3] != "none" else { return [ssl] }
        let fix = "\(commands.requests) python3 …"
        return [ssl, finding("Python certifi", answer, isTrusted: words[3] == "trusted", fix: fix)]
    }
}
