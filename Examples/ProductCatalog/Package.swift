// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "ProductCatalog",
  platforms: [.macOS(.v26)],
  products: [.library(name: "CatalogModel", targets: ["CatalogModel"])],
  dependencies: [
    .package(name: "RestorationKit", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(
      name: "CatalogModel",
      dependencies: [.product(name: "RestorationDrafts", package: "RestorationKit")],
      resources: [.copy("Resources/products.json")], swiftSettings: settings),
    .target(
      name: "ProductCatalogKit",
      dependencies: [
        "CatalogModel",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "RestorationDrafts", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "catalog", dependencies: ["ProductCatalogKit"], swiftSettings: settings),
    .testTarget(
      name: "ProductCatalogKitTests",
      dependencies: [
        "CatalogModel", "ProductCatalogKit",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "RestorationDrafts", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "crashing-app",
      dependencies: [.product(name: "RestorationKit", package: "RestorationKit")],
      path: "Tests/CrashingApp", swiftSettings: settings),
    // These run built programs, which are dependencies although nothing of them is imported.
    .testTarget(
      name: "CatalogProcessTests", dependencies: ["catalog", "crashing-app"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
