import Masking

/// The keys at the top level of a profile.
enum ProfileGrammar {
    private static func keys(_ tools: ToolRegistry) -> [GrammarKey] {
        [
            GrammarKey("version", .text, example: "1").means("The version of the profile's grammar: 1."),
            GrammarKey("name", .text, example: "staging", fallback: "the name of its file")
                .means("What the profile is called."),
            GrammarKey("include", .list(.path), example: "[ common.yaml ]", fallback: "none")
                .means("Other profiles, whose rules come before this one's; files, not pipes."),
            GrammarKey(
                "off",
                .list(.choice(tools.inOrder.map(\.key))),
                example: "[ breakpoints, throttle ]",
                fallback: "none"
            ).means(
                "Tools that are switched off at first; 'sluice tool on NAME' switches them on while Sluice runs."
            ),
            GrammarKey("access", .list(.text), example: "[ \"192.168.0.0/16\" ]", fallback: "none")
                .means("Networks that may use the proxy beside this machine, as CIDR; like --allow."),
            GrammarKey(
                "intercept",
                .mapping(InterceptRules.keys),
                example: "{ except: [ \"*.bank.example\" ] }",
                fallback: "all"
            ).means("Which hosts are decrypted."),
            GrammarKey(
                "record",
                .mapping(RecordRules.keys),
                example: "{ except: [ \"*.telemetry.example\" ] }",
                fallback: "all"
            ).means("Which exchanges are recorded; the others pass, and tools act on them."),
            GrammarKey(
                "upstream",
                .either(.text, .list(.mapping(UpstreamRules.keys))),
                whole:
                    "upstream:\n  - { proxy: direct, only: \"*.corp.example\" }\n  - { proxy: \"http://proxy.example:3128\" }",
                fallback: "--upstream-proxy, else every server is asked directly"
            ).means("The proxies through which servers are asked; the first rule for a request decides."),
            GrammarKey(
                "client-certificate",
                .list(.mapping(ClientCertificateRules.keys)),
                example: "{ host: api.example.com, file: client.p12, password-file: client.pass }",
                fallback: "none"
            ).means("Certificates for servers that ask for one; the first rule for a server decides."),
            GrammarKey(
                "mask",
                .mapping(MaskRules.keys),
                example: "{ also: [ x-tenant ], except: [ sid ], patterns: [ email ] }",
                fallback: "what names and looks of secrets say"
            ).means("What exports hide besides passwords, tokens, cookies and keys, and what they leave."),
            GrammarKey(
                "replay",
                .mapping(ReplayRules.keys),
                example: "{ ignore-query: [ ts ], ignore-body: [ \".items[].id\" ], headers: [ accept-language ] }",
                fallback: "requests are the same where method, URL and body are"
            ).means("Which recorded exchanges 'sluice replay' answers with, and what it compares of requests."),
            GrammarKey("protobuf", .list(.path), example: "[ api.desc ]", fallback: "none")
                .means(
                    "What names the fields of gRPC messages in the console: files of 'protoc --descriptor_set_out'."
                ),
        ]
    }

    private static let tests: [GrammarKey] = [
        GrammarKey(
            "expect",
            .list(.mapping(Expectation.keys)),
            example: "{ request: GET http://example.com/, fires: [], sends: http://example.com/ }",
            fallback: "none"
        ).means(
            "The profile's own tests, without a network: a request, and what the tools do. 'sluice profile test' runs them."
        ),
        GrammarKey(
            "assert",
            .list(.mapping(Assertion.keys)),
            example: "{ filter: host:api.example.com, count: \">=1\", status: 2xx, within: 500ms }",
            fallback: "none"
        ).means(
            "What must hold of the traffic of 'sluice run --profile FILE -- COMMAND' once the command has ended."
        ),
    ]

    /// In the order in which help lists them.
    static func allKeys(_ tools: ToolRegistry) -> [GrammarKey] {
        keys(tools) + tools.tools.compactMap(\.definitions?.key)
            + tools.inOrder.map { tool in
                let rule = GrammarValue.list(.mapping(tool.allKeys))
                return GrammarKey(
                    tool.key,
                    tool.takesTrue ? .either(.flag, rule) : rule,
                    whole: tool.example,
                    fallback: "not in use"
                ).means(tool.summary)
            }
            + tests
    }
}
