// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
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
  targets: [
    .target(
      name: "ProductCatalogKit", resources: [.copy("Resources/products.json")],
      swiftSettings: settings),
    .executableTarget(
      name: "catalog", dependencies: ["ProductCatalogKit"], swiftSettings: settings),
    .testTarget(
      name: "ProductCatalogKitTests", dependencies: ["ProductCatalogKit"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
