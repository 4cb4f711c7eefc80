struct CurlOption {
    /// Its long name, without hyphens.
    let name: String
    let takesValue: Bool

    /// Whether the option does not affect the request itself, only output and waiting.
    var isSilent: Bool { CurlOption.silent.contains(name) }

    init(long name: String) {
        self.name = name
        takesValue = CurlOption.withValue.contains(name)
    }

    init?(letter: UInt8) {
        guard let name = CurlOption.letters[Character(Unicode.Scalar(letter))] else { return nil }
        self.init(long: name)
    }

    private static func words(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    private static let silent = words(
        """
        silent show-error verbose include output remote-name remote-name-all remote-header-name write-out no-buffer
        progress-bar no-progress-meter fail fail-with-body fail-early max-time connect-timeout retry retry-delay
        retry-max-time retry-all-errors retry-connrefused create-dirs dump-header stderr trace
        trace-ascii trace-time keepalive-time no-keepalive compressed-ssh tcp-nodelay remote-time output-dir styled-output
        """
    )

    private static let withValue = words(
        """
        abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to
        continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw data-urlencode
        delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine
        etag-compare etag-save expect100-timeout form form-string ftp-account ftp-alternative-to-user ftp-method ftp-port
        ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header help hostpubmd5 hostpubsha256 hsts interface
        ip-tos ipfs-gateway json keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port login-options
        mail-auth mail-from mail-rcpt max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir
        parallel-max pass pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert
        proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey
        proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user proxy1.0
        pubkey quote random-file range rate referer request request-target resolve retry retry-delay retry-max-time
        sasl-authzid service-name socks4 socks4a socks5 socks5-gssapi-service socks5-hostname speed-limit speed-time
        stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace
        trace-ascii trace-config unix-socket upload-file url url-query user user-agent variable vlan-priority write-out
        """
    )

    private static let letters: [Character: String] = [
        "0": "http1.0", "1": "tlsv1", "2": "sslv2", "3": "sslv3", "4": "ipv4", "6": "ipv6", ":": "next",
        "#": "progress-bar", "A": "user-agent", "B": "use-ascii", "C": "continue-at", "D": "dump-header", "E": "cert",
        "F": "form", "G": "get", "H": "header", "I": "head", "J": "remote-header-name", "K": "config", "L": "location",
        "M": "manual", "N": "no-buffer", "O": "remote-name", "P": "ftp-port", "Q": "quote", "R": "remote-time",
        "S": "show-error", "T": "upload-file", "U": "proxy-user", "V": "version", "X": "request", "Y": "speed-limit",
        "Z": "parallel", "a": "append", "b": "cookie", "c": "cookie-jar", "d": "data", "e": "referer", "f": "fail",
        "g": "globoff", "h": "help", "i": "include", "j": "junk-session-cookies", "k": "insecure", "l": "list-only",
        "m": "max-time", "n": "netrc", "o": "output", "p": "proxytunnel", "q": "disable", "r": "range",
        "s": "silent", "t": "telnet-option", "u": "user", "v": "verbose", "w": "write-out", "x": "proxy",
        "y": "speed-time", "z": "time-cond",
    ]
}
