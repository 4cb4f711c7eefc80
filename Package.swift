// swift-tools-version:6.2
import PackageDescription

/// The settings every one of our modules is built with.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    // By default the compiler specialises and inlines across modules what is `public`, and nothing that is `package`.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

/// A system library: its module map and its one shim header are in `Sources/<name>`.
func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// What `sluice --version` says of the commit. A Swift setting cannot have a value, one of C can.
let commit =
    Context.gitInformation.map { $0.currentCommit + ($0.hasUncommittedChanges ? "-changed" : "") } ?? ""

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "Sluice",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "sluice", targets: ["sluice"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    ],
    targets: [
        // System libraries.
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
        system("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
        system("CNcurses", pkgConfig: "ncursesw", apt: "libncurses-dev", brew: "ncurses"),
        system("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev", brew: "pcre2"),
        system("CBrotli", pkgConfig: "libbrotlidec", apt: "libbrotli-dev", brew: "brotli"),
        system("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev", brew: "zstd"),
        system("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev", brew: "jpeg-turbo"),
        system("CWebP", pkgConfig: "libwebp", apt: "libwebp-dev", brew: "webp"),
        system("CZip", pkgConfig: "libzip", apt: "libzip-dev", brew: "libzip"),
        system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),

        // The C library's allocator, which no module of the toolchain shows.
        .systemLibrary(name: "CMalloc"),

        // The commit.
        .target(name: "CBuild", cSettings: [.define("SLUICE_COMMIT", to: "\"\(commit)\"")]),

        // The pages of the guide, which are in the catalogues of the modules that they are about.
        .target(name: "CGuide"),

        // libpq, which is opened at its first use.
        .target(name: "CPostgres"),
        .target(name: "CPage", exclude: ["Web"]),

        // Modules, lowest first. Arrows point down only (`.ci/arrows` checks it).
        module("Text"),
        module("Guide", ["Text", "CGuide"]),
        module("Expressions", ["CPCRE2"]),
        module("HTTPModel", ["Text", "Expressions", nioCore]),
        module("Files", ["CZip", nioCore]),
        module("Wire", ["Text", "HTTPModel", "Files", "COpenSSL", "CNGHTTP2", nioCore]),
        module("Content", ["Text", "HTTPModel", "CBrotli", "CZstd", "CZlib", "CTurboJPEG", "CWebP", nioCore]),
        module("Masking", ["Text", "Expressions", "HTTPModel", "Content", nioCore]),
        module("ExchangeCore", ["Text", "HTTPModel", "Content", nioCore, collections]),
        module("Telemetry", ["Text", "HTTPModel", "Content", nioCore]),
        module(
            "Rules",
            ["ExchangeCore", "Text", "HTTPModel", "Content", "Files", "Expressions", nioCore, yams]
        ),
        module("Tools", ["Rules", "ExchangeCore", "Text", "HTTPModel", "Content", "Expressions", nioCore]),
        module("CharlesFiles", ["Tools", "Rules", "ExchangeCore", "Text", "HTTPModel", "Content", "Expressions"]),
        module("ProxyServer", ["ExchangeCore", "Wire", "HTTPModel", nioCore, nioPosix, logging, collections]),
        module("Recording", ["HTTPModel", "Content", "Files", "CMalloc", nioCore, grdb, grdbSQLite]),
        module("Store", ["HTTPModel", "Content", "Recording", "CPostgres", "COpenSSL", nioCore]),
        module("Terminal", ["Text", "CNcurses"]),
        module("Description", ["Text", "HTTPModel", "Content", nioCore]),
        module(
            "Formats",
            ["Description", "Text", "HTTPModel", "Content", "Masking", "Files", "CPage", nioCore]
        ),
        module(
            "Console",
            [
                "Terminal", "Text", "Expressions", "HTTPModel", "Content", "ExchangeCore", "Tools", "Rules",
                "Recording", "Store", "Description", "Formats", "Masking",
                "Jobs", "Runner", "Clients", "Files", "Guide",
                nioCore,
            ]
        ),
        module(
            "Jobs",
            [
                "Rules", "Tools", "Recording", "Store", "Description", "Formats", "Masking", "Text", "HTTPModel",
                "Content",
                "ExchangeCore",
                "Wire",
                "Files", "Expressions", "CBuild", nioCore,
            ]
        ),
        module(
            "Runner",
            [
                "Jobs", "ProxyServer", "Tools", "Rules", "Recording", "Store", "Description", "Formats", "Masking",
                "Telemetry",
                "Text",
                "HTTPModel",
                "Content",
                "ExchangeCore", "Wire", "Files", nioCore, nioPosix, logging,
            ]
        ),
        module(
            "Clients",
            [
                "Runner", "Jobs", "ProxyServer", "Rules", "Recording", "Description", "Formats", "Masking", "Text",
                "HTTPModel",
                "Content",
                "ExchangeCore", "Wire", "Files", nioCore, nioPosix,
            ]
        ),
        module(
            "Diagnosis",
            [
                "Runner", "Jobs", "ProxyServer", "Description", "Formats", "Terminal", "Text", "HTTPModel", "Content",
                "Wire", "Files", nioCore, nioPosix,
            ]
        ),
        module(
            "Agents",
            [
                "Clients", "Runner", "Jobs", "Tools", "Rules", "Recording", "Store", "Description", "Formats",
                "Masking",
                "Text", "HTTPModel", "Content", "ExchangeCore", "Files", nioCore,
            ]
        ),
        .executableTarget(
            name: "sluice",
            dependencies: [
                "Jobs", "Runner", "Clients", "Agents", "Diagnosis", "Console", "Terminal", "ProxyServer",
                "CharlesFiles", "Tools",
                "Rules", "Wire", "HTTPModel",
                "Content", "Recording", "Store", "Description", "Formats", "Masking", "Telemetry", "Guide", "Files",
                "ExchangeCore",
                "Text",
                nioCore, argumentParser,
            ],
            swiftSettings: strict
        ),

        // Tests.
        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "Support",
            dependencies: [
                "HTTPModel", "Content", "ExchangeCore", "Tools", "Rules", "Terminal", "Text", "CSpawn", nioCore,
            ],
            path: "Tests/Support",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "RecorderCrashChild",
            dependencies: ["Recording", "HTTPModel", nioCore],
            path: "Tests/RecorderCrashChild",
            swiftSettings: strict
        ),
        tests("TextTests", ["Text", "HTTPModel", "Terminal", "Support"]),
        tests("GuideTests", ["Guide", "HTTPModel", "Support"]),
        tests("HTTPModelTests", ["HTTPModel", "Support", nioCore]),
        tests("FilesTests", ["Files", "Support", nioCore]),
        tests(
            "WireTests",
            ["Wire", "Text", "HTTPModel", "Support", "COpenSSL", nioCore, nioEmbedded, nioHTTP1],
            exclude: ["HTTP1/Cases"]
        ),
        tests("MaskingTests", ["Masking", "Content", "HTTPModel", "Support", nioCore]),
        tests("AgentsTests", ["Agents", "Rules", "HTTPModel", "Support"]),
        tests("TelemetryTests", ["Telemetry", "Content", "HTTPModel", "Support", nioCore]),
        tests("ContentTests", ["Content", "HTTPModel", "Support", nioCore]),
        tests("ExchangeCoreTests", ["ExchangeCore", "Support", "Content", "HTTPModel", nioCore]),
        tests(
            "RulesTests",
            ["Rules", "Tools", "ExchangeCore", "Content", "Support", "HTTPModel", "Expressions", nioCore]
        ),
        tests("ToolsTests", ["Tools", "Rules", "ExchangeCore", "Content", "Support", "HTTPModel", nioCore]),
        tests(
            "CharlesFilesTests",
            ["CharlesFiles", "Tools", "Rules", "ExchangeCore", "Content", "Support", "Text", "HTTPModel", nioCore]
        ),
        tests(
            "ProxyServerTests",
            ["ProxyServer", "ExchangeCore", "Support", "Wire", "HTTPModel", nioCore, nioPosix, nioEmbedded, logging]
        ),
        tests(
            "RecordingTests",
            ["Recording", "HTTPModel", "Content", "Files", "Support", "RecorderCrashChild", nioCore, grdb]
        ),
        tests("StoreTests", ["Store", "Recording", "Content", "HTTPModel", "Support", nioCore]),
        tests("TerminalTests", ["Terminal", "CNcurses", "Support"]),
        tests("DescriptionTests", ["Description", "Content", "Text", "HTTPModel", "Support", nioCore]),
        tests(
            "FormatsTests",
            [
                "Formats", "Description", "Masking", "Files", "Content", "Text", "HTTPModel", "Support", nioCore,
                nioPosix,
            ],
            exclude: ["Archives/Fixtures"]
        ),
        tests(
            "ConsoleTests",
            [
                "Console", "Recording", "Text", "HTTPModel", "Terminal", "Tools", "Rules", "Description", "Formats",
                "Content",
                "ExchangeCore", "Jobs", "Runner", "Clients", "Guide", "Support",
                nioCore,
            ],
            exclude: ["Snapshots"]
        ),
        tests(
            "JobsTests",
            [
                "Jobs", "Runner", "Recording", "Description", "Formats", "Masking", "Rules", "Files", "Content", "Text",
                "HTTPModel", "Support", nioCore, nioPosix,
            ]
        ),
        tests(
            "RunnerTests",
            [
                "Runner", "Jobs", "ProxyServer", "Tools", "Rules", "Recording", "Description", "Formats", "Masking",
                "Files", "ExchangeCore", "Content", "Wire", "Text", "HTTPModel", "Support", nioCore, nioPosix, logging,
            ]
        ),
        tests(
            "ClientsTests",
            [
                "Clients", "Runner", "Jobs", "ProxyServer", "Tools", "Rules", "Recording", "Description", "Formats",
                "Masking",
                "ExchangeCore",
                "Content", "Wire", "Text", "HTTPModel", "Support", nioCore, nioPosix,
            ]
        ),
        tests(
            "DiagnosisTests",
            [
                "Diagnosis", "Runner", "Jobs", "Description", "Formats", "Wire", "HTTPModel", "Support", nioCore,
                nioPosix,
            ]
        ),
        tests(
            "EndToEndTests",
            ["sluice", "Recording", "Text", "HTTPModel", "Terminal", "Support", nioCore, nioPosix],
            exclude: ["Scripts"]
        ),
    ]
)
