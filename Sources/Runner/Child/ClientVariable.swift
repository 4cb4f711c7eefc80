package struct ClientVariable: Sendable {
    package enum Content: Sendable, Equatable {
        case proxy
        case authority
        /// Sluice's authority and the authorities that the user adds, for clients with built-in roots.
        case additions
        /// The system's, the user's and Sluice's authorities, for clients that trust only the authorities in the file.
        case bundle
        case text(String)
    }

    package let name: String
    package let content: Content
    package let clients: String

    private init(_ name: String, _ content: Content, _ clients: String) {
        (self.name, self.content, self.clients) = (name, content, clients)
    }

    /// All variables except those that extend the user's value: `JAVA_TOOL_OPTIONS`, `GIT_CONFIG_COUNT` with its keys and
    /// values, `PHP_INI_SCAN_DIR` and `WGETRC`.
    package static let all: [ClientVariable] = [
        ClientVariable("http_proxy", .proxy, "curl (which knows no HTTP_PROXY), wget, Python, Ruby, Git, PHP"),
        ClientVariable("HTTP_PROXY", .proxy, "Go, Node from 22.21 and 24.5, Deno, .NET, Rust's reqwest, Python"),
        ClientVariable("https_proxy", .proxy, "curl, wget, Python, Git, gRPC, PHP"),
        ClientVariable("HTTPS_PROXY", .proxy, "Go, Node from 22.21 and 24.5, Deno, .NET, Rust's reqwest, AWS"),
        ClientVariable("all_proxy", .proxy, "curl and httpx, for other schemes"),
        ClientVariable("ALL_PROXY", .proxy, "curl and httpx, for other schemes"),
        ClientVariable("NODE_USE_ENV_PROXY", .text("1"), "Node from 22.21 and 24.5: fetch, http and https obey"),
        ClientVariable("CARGO_HTTP_PROXY", .proxy, "Cargo"),
        ClientVariable("SSL_CERT_FILE", .bundle, "OpenSSL: Python, Ruby, PHP, Perl, .NET; also Go, httpx, uv, rustls"),
        ClientVariable("CURL_CA_BUNDLE", .bundle, "curl; Python's requests"),
        ClientVariable("REQUESTS_CA_BUNDLE", .bundle, "Python's requests, and pip, Poetry, conda, Azure's CLI with it"),
        ClientVariable("PIP_CERT", .bundle, "pip"),
        ClientVariable("HTTPLIB2_CA_CERTS", .bundle, "Python's httplib2"),
        ClientVariable("AWS_CA_BUNDLE", .bundle, "AWS's CLI and SDKs"),
        ClientVariable("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", .bundle, "Google Cloud's CLI"),
        ClientVariable("GIT_SSL_CAINFO", .bundle, "Git"),
        ClientVariable("CARGO_HTTP_CAINFO", .bundle, "Cargo"),
        ClientVariable("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", .bundle, "gRPC's C core: C++, Python, Ruby, PHP"),
        ClientVariable("PERL_LWP_SSL_CA_FILE", .bundle, "Perl's LWP"),
        ClientVariable("HEX_CACERTS_PATH", .bundle, "Elixir's Hex"),
        ClientVariable("NIX_SSL_CERT_FILE", .bundle, "Nix, and what it built"),
        ClientVariable("NODE_EXTRA_CA_CERTS", .additions, "Node, and npm, Yarn, pnpm with it; Bun"),
        ClientVariable("DENO_CERT", .additions, "Deno"),
        ClientVariable("SLUICE_PROXY", .proxy, "scripts that pass the proxy on by hand"),
        ClientVariable("SLUICE_CA", .authority, "scripts that pass the authority on by hand"),
    ]

    /// Variables that let a client bypass the proxy. They are removed: old gRPC takes an empty value for all hosts.
    package static let removed = [
        "NO_PROXY", "no_proxy", "no_grpc_proxy", "grpc_proxy", "ws_proxy", "WS_PROXY", "wss_proxy", "WSS_PROXY",
        "PIP_PROXY", "npm_config_proxy", "npm_config_https_proxy", "npm_config_noproxy",
    ]
}
