import HTTPModel

/// The keys at the top level of a profile.
enum ProfileGrammar {
    private static func keys(_ tools: ToolRegistry) -> [GrammarKey] {
        [
            GrammarKey("version", .text, example: "1").means("The version of the profile's grammar: 1."),
            GrammarKey("name", .text, example: "staging", fallback: "the name of its file")
                .means("The profile's name."),
            GrammarKey("include", .list(.path), example: "[ common.yaml ]", fallback: "none")
                .means("Other profiles, whose rules come before this one's; files only."),
            Variable.grammar,
            GrammarKey("off", .list(.choice(tools.inOrder.map(\.key))), fallback: "none")
                .example("[ breakpoints, throttle ]")
                .means("Tools that are off at the start; 'sluice tool on NAME' switches them on."),
            GrammarKey("access", .list(.text), example: "[ \"192.168.0.0/16\" ]", fallback: "none")
                .means("Networks besides this machine that may use the proxy, as CIDR; like --allow."),
            GrammarKey("intercept", .mapping(InterceptRules.keys), fallback: "all")
                .example("{ except: [ \"*.bank.example\" ] }").means("The hosts to decrypt."),
            GrammarKey("record", .mapping(RecordRules.keys), fallback: "all")
                .example("{ except: [ \"*.telemetry.example\" ] }")
                .means("The exchanges to record; tools act on the others too."),
            GrammarKey("upstream", upstreamRules, fallback: "--upstream-proxy, else direct connections")
                .example(whole: upstreamExample)
                .means("Upstream proxies; the first rule that matches a request decides."),
            GrammarKey("client-certificate", .list(.mapping(ClientCertificateRules.keys)), fallback: "none")
                .example("{ host: api.example.com, file: client.p12, password-file: client.pass }")
                .means("Client certificates; the first rule that matches a server decides."),
            GrammarKey("mask", .mapping(MaskRules.keys), fallback: "names and forms of secrets")
                .example("{ also: [ x-tenant ], except: [ sid ], patterns: [ email ] }")
                .means("What exports mask besides passwords, tokens, cookies and keys, and what they keep."),
            GrammarKey(
                "replay",
                .mapping(ReplayRules.keys),
                fallback: "requests with the same method, URL and body match"
            )
            .example("{ ignore-query: [ ts ], ignore-body: [ \"json.items[*].id\" ], headers: [ accept-language ] }")
            .means("The exchanges that 'sluice replay' answers from, and how it compares requests."),
            GrammarKey("protobuf", .list(.path), example: "[ api.desc ]", fallback: "none")
                .means("Descriptor sets for gRPC messages: files of 'protoc --descriptor_set_out'."),
        ]
    }

    private static let upstreamRules = GrammarValue.either(.text, .list(.mapping(UpstreamRules.keys)))
    private static let upstreamExample =
        "upstream:\n  - { proxy: direct, only: \"*.corp.example\" }\n  - { proxy: \"http://proxy.example:3128\" }"

    private static let tests: [GrammarKey] = [
        GrammarKey("expect", .list(.mapping(Expectation.keys)), fallback: "none")
            .example("{ request: GET http://example.com/, fires: [], sends: http://example.com/ }")
            .means(
                "Tests of the profile, without a network: a request, and the tools' effects. 'sluice profile test' runs them."
            ),
        GrammarKey("assert", .list(.mapping(Assertion.keys)), fallback: "none")
            .example("{ filter: host:api.example.com, count: \">=1\", status: 2xx, within: 500ms }")
            .means(
                "Assertions about the traffic of 'sluice run --profile FILE -- COMMAND', checked when the command ends."
            ),
    ]

    /// In the order of the help.
    static func allKeys(_ tools: ToolRegistry) -> [GrammarKey] {
        keys(tools) + tools.tools.compactMap(\.definitions?.key)
            + tools.inOrder.map { tool in
                let rule = GrammarValue.list(.mapping(tool.allKeys))
                return GrammarKey(tool.key, tool.takesTrue ? .either(.flag, rule) : rule, fallback: "not in use")
                    .example(whole: tool.example).means(tool.summary)
            }
            + tests
    }
}
