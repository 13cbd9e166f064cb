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
  name: "restoration",
  platforms: [.macOS(.v26)],
  products: [.executable(name: "restoration", targets: ["restoration"])],
  dependencies: [
    .package(name: "RestorationKit", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "restoration",
      dependencies: [
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "RestorationInspection", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "RestorationToolTests",
      dependencies: [
        "restoration",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "RestorationInspection", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
