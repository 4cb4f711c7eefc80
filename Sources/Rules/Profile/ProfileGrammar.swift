import ExchangeCore

/// The keys at the top level of a profile that are no tools.
enum ProfileGrammar {
    private static func keys(_ tools: ToolRegistry) -> [GrammarKey] {
        [
            GrammarKey("version", .text, "The version of the profile's grammar: 1.", example: "version: 1"),
            GrammarKey(
                "name",
                .text,
                "What the profile is called.",
                example: "name: staging",
                fallback: "the name of its file"
            ),
            GrammarKey(
                "include",
                .list(.path),
                "Other profiles, whose rules come before this one's; files, not pipes.",
                example: "include: [ common.yaml ]",
                fallback: "none"
            ),
            GrammarKey(
                "off",
                .list(.choice(tools.inOrder.map(\.key))),
                "Tools that are switched off at first; 'sluice tool on NAME' switches them on while Sluice runs.",
                example: "off: [ breakpoints, throttle ]",
                fallback: "none"
            ),
            GrammarKey(
                "access",
                .list(.text),
                "Networks that may use the proxy beside this machine, as CIDR; like --allow.",
                example: "access: [ \"192.168.0.0/16\" ]",
                fallback: "none"
            ),
            GrammarKey(
                "intercept",
                .mapping(InterceptRules.keys),
                "Which hosts are decrypted.",
                example: "intercept: { except: [ \"*.bank.example\" ] }",
                fallback: "all"
            ),
        ]
    }

    private static let tests: [GrammarKey] = [
        GrammarKey(
            "expect",
            .list(.mapping(Expectation.keys)),
            "The profile's own tests, without a network: a request, and what the tools do. 'sluice profile test' runs them.",
            example: "expect: { request: GET http://example.com/, fires: [], sends: http://example.com/ }",
            fallback: "none"
        ),
        GrammarKey(
            "assert",
            .list(.mapping(Assertion.keys)),
            "What must hold of the traffic of 'sluice run --profile FILE -- COMMAND' once the command has ended.",
            example: "assert: { filter: host:api.example.com, count: \">=1\", status: 2xx, within: 500ms }",
            fallback: "none"
        ),
    ]

    /// All keys of the top level, tools included, in the order in which help lists them.
    static func allKeys(_ tools: ToolRegistry) -> [GrammarKey] {
        keys(tools) + tools.tools.compactMap(\.definitions?.key)
            + tools.inOrder.map { tool in
                let rule = GrammarValue.list(.mapping(tool.allKeys))
                return GrammarKey(
                    tool.key,
                    tool.takesTrue ? .either(.flag, rule) : rule,
                    tool.summary,
                    example: tool.example,
                    fallback: "not in use"
                )
            }
            + tests
    }
}
