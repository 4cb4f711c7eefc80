extension ToolRegistry {
    /// Every tool of Sluice, a line each, in the order in which menus list them.
    package static let standard = ToolRegistry([
        .throttle,
        .breakpoints,
        .mapRemote,
        .mapLocal,
        .noCaching,
        .blockList,
        .allowList,
        .rewrite,
        .blockCookies,
        .dnsSpoofing,
        .mirror,
    ])
}
