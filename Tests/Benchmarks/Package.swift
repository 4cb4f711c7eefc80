// swift-tools-version:6.2
import PackageDescription

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

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Modules/\(name)", swiftSettings: strict)
}

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

/// Benchmarks, and what they need.
///
/// `sluice-bench` measures the binary that users run, from outside, and depends on none of the package's modules.
/// `rules-bench` measures the rules alone, `session-maker` makes large sessions; their modules are reached by the links in
/// `Modules`.
let package = Package(
    name: "SluiceBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CClientTLS",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .executableTarget(
            name: "sluice-bench",
            dependencies: ["CClientTLS", argumentParser],
            swiftSettings: strict
        ),

        system("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev", brew: "pcre2"),
        system("CBrotli", pkgConfig: "libbrotlidec", apt: "libbrotli-dev", brew: "brotli"),
        system("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev", brew: "zstd"),
        system("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev", brew: "jpeg-turbo"),
        system("CWebP", pkgConfig: "libwebp", apt: "libwebp-dev", brew: "webp"),
        system("CZip", pkgConfig: "libzip", apt: "libzip-dev", brew: "libzip"),
        system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
        module("Text", []),
        module("Expressions", ["CPCRE2"]),
        module("HTTPModel", ["Text", "Expressions", nioCore]),
        module("Files", ["CZip", nioCore]),
        module("Content", ["Text", "HTTPModel", "CBrotli", "CZstd", "CZlib", "CTurboJPEG", "CWebP", nioCore]),
        module("Masking", ["Text", "HTTPModel", "Content", "Expressions", nioCore]),
        module("ExchangeCore", ["Text", "HTTPModel", "Content", nioCore, collections]),
        module("Rules", ["Text", "ExchangeCore", "HTTPModel", "Content", "Files", "Expressions", nioCore, yams]),
        module("Tools", ["Text", "Rules", "ExchangeCore", "HTTPModel", "Content", "Expressions", nioCore]),
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "rules-bench",
            dependencies: ["CAllocationCount", "Tools", "Rules", "ExchangeCore", "HTTPModel", nioCore],
            swiftSettings: strict
        ),

        .systemLibrary(name: "CMalloc", path: "Modules/CMalloc"),
        module("Recording", ["HTTPModel", "Content", "Files", "CMalloc", nioCore, grdb, grdbSQLite]),
        .executableTarget(
            name: "session-maker",
            dependencies: ["Recording", "HTTPModel", nioCore, argumentParser],
            swiftSettings: strict
        ),
    ]
)
