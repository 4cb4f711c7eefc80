import ExchangeCore
import Yams

/// How a tool gets from its key in a profile to a stage.
struct Tool: Sendable {
    /// What a parser made of a tool's value.
    struct Result {
        let stage: any Stage
        let ruleCount: Int
    }

    /// The key at the top level of a profile.
    let key: String
    /// Reads the key's value; `nil` where nothing is in force.
    ///
    /// What is wrong goes to the reader.
    let parse: @Sendable (Node, inout ProfileReader) -> Result?
}

/// Every tool that a profile can configure: one line each.
enum ToolRegistry {
    static let tools: [Tool] = [
        AllowList.tool,
        BlockList.tool,
        Rewrite.tool,
    ]

    /// Keys of tools that are designed but not built.
    static let later: Set<String> = [
        "throttle", "no-caching", "block-cookies", "map-remote", "map-local", "mirror", "breakpoints", "dns-spoofing",
        "include", "expect", "assert",
    ]
}
