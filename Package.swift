// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatWarning("ExplicitSendable", as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Tests hold bytes and pointers to other processes freely, and a binding to widgets in C is made of
// pointers, so they do without the memory safety warnings; everything else is as strict as the sources.
let pointerSettings: [SwiftSetting] = Array(settings.dropFirst(2))
let testSettings = pointerSettings

let package = Package(
  name: "RestorationKit",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "RestorationKit", targets: ["RestorationKit"]),
    .library(name: "ArchiveCodec", targets: ["ArchiveCodec"]),
    .library(name: "RestorationDrafts", targets: ["RestorationDrafts"]),
    .library(name: "RestorationSharing", targets: ["RestorationSharing"]),
    .library(name: "RestorationInspection", targets: ["RestorationInspection"]),
    .library(name: "RestorationTesting", targets: ["RestorationTesting"]),
    .library(name: "RestorationSharingTesting", targets: ["RestorationSharingTesting"]),
    .library(name: "RestorationSecretService", targets: ["RestorationSecretService"]),
    .library(name: "RestorationPostgreSQL", targets: ["RestorationPostgreSQL"]),
    .library(name: "RestorationGTK", targets: ["RestorationGTK"]),
    .plugin(name: "RestorationCommand", targets: ["RestorationCommand"]),
  ],
  traits: [
    .trait(
      name: "SecretService",
      description: "Keys in the keyring of a Linux desktop, through libsecret."),
    .trait(
      name: "PostgreSQL",
      description: "States in a PostgreSQL that many servers share, through libpq."),
    .trait(name: "GTK", description: "Windows and widgets of GTK 4 that come back."),
  ],
  targets: [
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .target(name: "RestorationLibc", swiftSettings: settings),
    .target(name: "RestorationFoundation", swiftSettings: settings),
    .target(
      name: "ArchiveCodec", dependencies: ["RestorationFoundation", "RestorationLibc", "CSodium"],
      swiftSettings: settings),
    .target(
      name: "RestorationKit",
      dependencies: ["ArchiveCodec", "RestorationFoundation", "RestorationLibc"],
      swiftSettings: settings),
    .target(
      name: "RestorationDrafts",
      dependencies: ["ArchiveCodec", "RestorationFoundation", "RestorationLibc"],
      swiftSettings: settings),
    .target(
      name: "RestorationSharing",
      dependencies: [
        "ArchiveCodec", "RestorationFoundation", "RestorationLibc", "RestorationKit",
      ],
      swiftSettings: settings),
    .target(
      name: "RestorationInspection",
      dependencies: ["ArchiveCodec", "RestorationFoundation", "RestorationKit"],
      swiftSettings: settings),
    // Builds the command in Tools/restoration when it is first run.
    .plugin(
      name: "RestorationCommand",
      capability: .command(
        intent: .custom(verb: "restoration", description: "Looks into stored states."),
        permissions: [
          .allowNetworkConnections(
            scope: .all(), reason: "The first run fetches swift-argument-parser.")
        ])),
    .target(
      name: "RestorationTesting",
      dependencies: [
        "ArchiveCodec", "RestorationFoundation", "RestorationLibc", "RestorationKit",
      ],
      swiftSettings: settings),
    .target(
      name: "RestorationSharingTesting",
      dependencies: ["ArchiveCodec", "RestorationKit", "RestorationSharing", "RestorationTesting"],
      swiftSettings: settings),
    // Only with the trait; without it the module is empty, and nobody needs libsecret.
    .systemLibrary(
      name: "CSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
    .target(
      name: "RestorationSecretService",
      dependencies: [
        "ArchiveCodec", "RestorationLibc", "RestorationKit",
        .target(name: "CSecret", condition: .when(traits: ["SecretService"])),
      ],
      swiftSettings: settings),
    // The same with libpq.
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(
      name: "RestorationPostgreSQL",
      dependencies: [
        "RestorationFoundation", "RestorationLibc", "RestorationSharing",
        .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: settings),
    // The same with GTK.
    .systemLibrary(name: "CGTK4", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .target(
      name: "RestorationGTK",
      dependencies: [
        "RestorationKit", .target(name: "CGTK4", condition: .when(traits: ["GTK"])),
      ],
      swiftSettings: pointerSettings),
    // A second writer and reader of archives, made from the specification.
    .target(
      name: "ArchiveForge", dependencies: ["ArchiveCodec", "CSodium"], path: "Tests/ArchiveForge",
      swiftSettings: testSettings),
    .target(
      name: "TestSupport",
      dependencies: [
        "ArchiveCodec", "ArchiveForge", "RestorationKit", "RestorationSharing",
        "RestorationTesting",
      ],
      path: "Tests/TestSupport",
      swiftSettings: testSettings),
    // Also built with libFuzzer, by the package in Fuzz.
    .target(
      name: "FuzzTargets", dependencies: ["ArchiveCodec", "ArchiveForge"],
      path: "Fuzz/Sources/FuzzTargets", swiftSettings: testSettings),
    .testTarget(
      name: "ArchiveCodecTests",
      dependencies: [
        "ArchiveCodec", "ArchiveForge", "FuzzTargets", "RestorationTesting", "TestSupport",
      ],
      resources: [.copy("Vectors")], swiftSettings: testSettings),
    // The tests of the library, by what they need: a keeper and its trees, values besides, windows besides,
    // a store of others besides. Their folders are named as those of the sources.
    .testTarget(
      name: "RestorationCoreTests",
      dependencies: ["ArchiveCodec", "ArchiveForge", "RestorationKit", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationTreeTests",
      dependencies: [
        "ArchiveCodec", "RestorationInspection", "RestorationKit", "RestorationTesting",
        "TestSupport",
      ],
      exclude: ["Engine/StoredStates"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationValueTests",
      dependencies: ["ArchiveCodec", "RestorationKit", "RestorationTesting", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationWindowTests",
      dependencies: [
        "ArchiveCodec", "RestorationInspection", "RestorationKit", "RestorationTesting",
        "TestSupport",
      ],
      exclude: ["Engine/StoredStates"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationSharingTests",
      dependencies: [
        "ArchiveCodec", "RestorationInspection", "RestorationKit", "RestorationSharing",
        "RestorationSharingTesting", "RestorationTesting", "TestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationDraftsTests",
      dependencies: ["ArchiveCodec", "RestorationDrafts", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationTestingTests",
      dependencies: [
        "ArchiveCodec", "RestorationKit", "RestorationSharing", "RestorationSharingTesting",
        "RestorationTesting", "TestSupport",
      ],
      swiftSettings: testSettings),
    // Programs of the kind that the README shows, which the tests start, stop and kill.
    .executableTarget(
      name: "LaunchedApps", dependencies: ["RestorationKit"], path: "Tests/LaunchedApps",
      swiftSettings: testSettings),
    .executableTarget(
      name: "LaunchedAppsNow", dependencies: ["RestorationKit"], path: "Tests/LaunchedAppsNow",
      swiftSettings: testSettings),
    .testTarget(
      name: "LaunchTests",
      dependencies: ["RestorationInspection", "RestorationKit", "TestSupport"],
      swiftSettings: testSettings),
    // Empty without the trait, too. Scripts/test runs it with a keyring of its own.
    .testTarget(
      name: "RestorationSecretServiceTests",
      dependencies: [
        "ArchiveCodec", "RestorationKit", "RestorationSecretService", "RestorationTesting",
        "TestSupport", .target(name: "CSecret", condition: .when(traits: ["SecretService"])),
      ],
      swiftSettings: testSettings),
    // Empty without the trait, too. Scripts/test runs it with servers of its own.
    .testTarget(
      name: "RestorationPostgreSQLTests",
      dependencies: [
        "RestorationKit", "RestorationPostgreSQL", "RestorationSharing",
        "RestorationSharingTesting", "RestorationTesting", "TestSupport",
        .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: testSettings),
  ],
  swiftLanguageModes: [.v6]
)
