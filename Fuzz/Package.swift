// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v26)],
  targets: [
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium"),
    .target(name: "RestorationLibc", swiftSettings: settings),
    .target(name: "RestorationFoundation", swiftSettings: settings),
    .target(
      name: "ArchiveCodec", dependencies: ["RestorationFoundation", "RestorationLibc", "CSodium"],
      swiftSettings: settings),
    .target(
      name: "ArchiveForge", dependencies: ["ArchiveCodec", "CSodium"], swiftSettings: settings),
    .target(
      name: "FuzzTargets", dependencies: ["ArchiveCodec", "ArchiveForge"],
      swiftSettings: settings),
  ]
    + ["FuzzOpen", "FuzzContent", "FuzzValues", "FuzzCodable", "FuzzJournal"].map { name in
      .executableTarget(name: name, dependencies: ["FuzzTargets"], swiftSettings: settings)
    },
  swiftLanguageModes: [.v6]
)
