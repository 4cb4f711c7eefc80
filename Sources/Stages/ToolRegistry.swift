import ExchangeCore

/// Every tool that a profile can configure: one line each.
enum ToolRegistry {
    static let tools: [Tool] = [
        Tool(AllowList.self),
        Tool(BlockList.self),
        Tool(NoCaching.self),
        Tool(BlockCookies.self),
        Tool(Rewrite.self),
        Tool(Throttle.self),
        Tool(DNSSpoofing.self),
        Tool(MapLocal.self),
        Tool(MapRemote.self),
        Tool(Mirror.self),
        Tool(Breakpoints.self),
    ]
}
