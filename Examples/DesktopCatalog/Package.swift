// swift-tools-version: 6.2

import PackageDescription

// A binding to a library in C is made of pointers, so it does without the memory safety warnings.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "DesktopCatalog",
  products: [
    .executable(name: "desktop-catalog", targets: ["desktop-catalog"]),
    // Loaded by the tests into the app.
    .library(name: "SlowDisk", type: .dynamic, targets: ["SlowDisk"]),
  ],
  dependencies: [
    .package(name: "RestorationKit", path: "../..", traits: ["GTK", "SecretService"]),
    .package(path: "../ProductCatalog"),
  ],
  targets: [
    .systemLibrary(name: "CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .target(
      name: "DesktopCatalogKit",
      dependencies: [
        "CGtk",
        .product(name: "CatalogModel", package: "ProductCatalog"),
        .product(name: "RestorationDrafts", package: "RestorationKit"),
        .product(name: "RestorationGTK", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
        .product(name: "RestorationSecretService", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "desktop-catalog", dependencies: ["DesktopCatalogKit"], swiftSettings: settings),
    .target(name: "SlowDisk", path: "Tests/SlowDisk"),
    .target(
      name: "DesktopTestSupport", path: "Tests/TestSupport", exclude: ["desktop-peers.py"],
      swiftSettings: settings),
    // These show widgets in the process of the test.
    .testTarget(
      name: "RestorationGTKTests",
      dependencies: [
        "CGtk", "DesktopTestSupport",
        .product(name: "RestorationGTK", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    // These show the widgets of the app in the process of the test.
    .testTarget(
      name: "DesktopCatalogKitTests",
      dependencies: [
        "CGtk", "DesktopCatalogKit", "DesktopTestSupport",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "CatalogModel", package: "ProductCatalog"),
        .product(name: "RestorationDrafts", package: "RestorationKit"),
        .product(name: "RestorationGTK", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    // These run the built program, which is a dependency although nothing of it is imported.
    .testTarget(
      name: "DesktopCatalogTests",
      dependencies: [
        "DesktopTestSupport", "desktop-catalog",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "CatalogModel", package: "ProductCatalog"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    // Signals, logging out and sleep, with a session manager and a logind of the tests' own.
    .testTarget(
      name: "DesktopEventTests",
      dependencies: [
        "DesktopTestSupport", "desktop-catalog",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "RestorationInspection", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
