// swift-tools-version:6.2
import PackageDescription

// The modules are built from their sources, reached by the links in `Modules`, so that they are instrumented and the
// product need not offer them as libraries. The probes are those of the unit tests, linked in the same way.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, path: "Modules/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

/// A module, or of one that needs far more than the fuzzers do just the sources that they reach.
func module(_ name: String, _ dependencies: [Target.Dependency], sources: [String]? = nil) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Modules/\(name)",
        sources: sources,
        // A probe may reach what is internal.
        swiftSettings: strict + [.unsafeFlags(["-enable-testing"])]
    )
}

func fuzzer(_ name: String, _ modules: Target.Dependency...) -> Target {
    // libFuzzer has the main function.
    .executableTarget(
        name: name,
        dependencies: ["FuzzEntry", "Support", "HTTPModel", nioCore] + modules,
        swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]
    )
}

let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")

let package = Package(
    name: "SluiceFuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    ],
    targets: [
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
        system("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
        system("CBrotli", pkgConfig: "libbrotlidec", apt: "libbrotli-dev", brew: "brotli"),
        system("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev", brew: "zstd"),
        system("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev", brew: "jpeg-turbo"),
        system("CWebP", pkgConfig: "libwebp", apt: "libwebp-dev", brew: "webp"),
        system("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev", brew: "pcre2"),
        system("CZip", pkgConfig: "libzip", apt: "libzip-dev", brew: "libzip"),
        system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
        .systemLibrary(name: "CMalloc", path: "Modules/CMalloc"),

        module("Text", []),
        module("Expressions", ["CPCRE2"]),
        module("HTTPModel", ["Text", "Expressions", nioCore]),
        module("Files", ["CZip", nioCore]),
        module("Wire", ["Text", "HTTPModel", "Files", "COpenSSL", "CNGHTTP2", nioCore]),
        module("Content", ["Text", "HTTPModel", "CBrotli", "CZstd", "CZlib", "CTurboJPEG", "CWebP", nioCore]),
        module("Masking", ["Text", "Expressions", "HTTPModel", "Content", nioCore]),
        module("Telemetry", ["Text", "HTTPModel", "Content", nioCore]),
        module("ExchangeCore", ["Text", "HTTPModel", "Content", nioCore, collections]),
        module(
            "Rules",
            ["Text", "ExchangeCore", "HTTPModel", "Content", "Masking", "Files", "Expressions", nioCore, yams]
        ),
        module("Tools", ["Text", "Rules", "ExchangeCore", "HTTPModel", "Content", "Expressions", nioCore]),
        module("CharlesFiles", ["Text", "Tools", "Rules", "ExchangeCore", "HTTPModel", "Expressions"]),

        module("Recording", ["HTTPModel", "Content", "Files", "CMalloc", nioCore, grdb, grdbSQLite]),
        .target(name: "CBuild", path: "Modules/CBuild", cSettings: [.define("SLUICE_COMMIT", to: "\"\"")]),
        .target(name: "CPage", path: "Modules/CPage", exclude: ["Web"]),
        .target(name: "CPostgres", path: "Modules/CPostgres"),
        module("Store", ["HTTPModel", "Content", "Recording", "CPostgres", "COpenSSL", nioCore]),
        module("Description", ["Text", "HTTPModel", "Content", nioCore]),
        module(
            "Formats",
            ["Description", "Text", "HTTPModel", "Content", "Masking", "Files", "CPage", nioCore]
        ),
        module(
            "Jobs",
            [
                "Rules", "Tools", "Recording", "Description", "Formats", "Masking", "Text", "HTTPModel", "Content",
                "Store", "ExchangeCore", "Wire", "Files", "Expressions", "CBuild", nioCore,
            ]
        ),

        module("Support", [], sources: ["Fuzz"]),
        .target(name: "FuzzEntry", swiftSettings: strict),
        fuzzer("HTTP2Feed", "Wire"),
        fuzzer("HPACK", "Wire"),
        fuzzer("SOCKS", "Wire"),
        fuzzer("ProxyAnswers", "Wire"),
        fuzzer("ClientHellos", "Wire"),
        fuzzer("HostNames", "Wire", "Text"),
        fuzzer("WebSocket", "Content"),
        fuzzer("Decoders", "Content"),
        fuzzer("Profiles", "Tools", "Rules", "ExchangeCore"),
        fuzzer("Charles", "CharlesFiles", "Tools", "Rules"),
        fuzzer("Images", "Content"),
        fuzzer("Sessions", "Recording", grdb),
        fuzzer("Archives", "Jobs", "Recording", "Formats", "Files"),
        fuzzer("Entries", "Content", "Formats"),
        fuzzer("Zips", "Files"),
        fuzzer("Pages", "Content", "Description", "Formats"),
        fuzzer("Paths", "Content"),
        fuzzer("Commands", "Content", "Formats"),
        fuzzer("Spans", "Content", "Telemetry"),
        fuzzer("Stores", "Store", "Recording"),
        fuzzer("Masks", "Masking"),
    ]
)
