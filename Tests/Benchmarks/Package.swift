// swift-tools-version:6.2
import PackageDescription

/// The benchmark measures the binary that users run, from outside, so it depends on none of the package's modules.
let package = Package(
    name: "SluiceBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        .systemLibrary(
            name: "CClientTLS",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .executableTarget(
            name: "sluice-bench",
            dependencies: ["CClientTLS", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]
        ),
    ]
)
