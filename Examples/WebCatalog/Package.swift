// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "WebCatalog",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "RestorationKit", path: "../..", traits: ["PostgreSQL"]),
    .package(path: "../ProductCatalog"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(
      url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "WebCatalogKit",
      dependencies: [
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CatalogModel", package: "ProductCatalog"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "RestorationDrafts", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
        .product(name: "RestorationPostgreSQL", package: "RestorationKit"),
        .product(name: "RestorationSharing", package: "RestorationKit"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [.copy("Resources")], swiftSettings: settings),
    .executableTarget(
      name: "web-catalog",
      dependencies: [
        "WebCatalogKit", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
    // These run the built program, which is a dependency although nothing of it is imported.
    .testTarget(
      name: "WebCatalogTests",
      dependencies: [
        "TestSupport", "WebCatalogKit", "web-catalog",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "RestorationKit", package: "RestorationKit"),
        .product(name: "RestorationPostgreSQL", package: "RestorationKit"),
        .product(name: "RestorationSharing", package: "RestorationKit"),
        .product(name: "RestorationSharingTesting", package: "RestorationKit"),
        .product(name: "RestorationTesting", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    // The same in Chromium, behind a proxy.
    .testTarget(
      name: "BrowserTests", dependencies: ["TestSupport", "web-catalog"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
