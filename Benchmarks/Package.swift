// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// What is measured beside PostgreSQL needs libpq, so it is only there when it is asked for.
let measuresStores = Context.environment["BENCHMARK_STORES"] != nil

let stores: [Target] = [
  .systemLibrary(
    name: "Libpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
  .executableTarget(
    name: "StoreTable",
    dependencies: [
      "Libpq", "Tables", "Workload",
      .product(name: "ArchiveCodec", package: "RestorationKit"),
      .product(name: "Crypto", package: "swift-crypto"),
      .product(name: "RestorationKit", package: "RestorationKit"),
      .product(name: "RestorationPostgreSQL", package: "RestorationKit"),
      .product(name: "RestorationSharing", package: "RestorationKit"),
    ],
    swiftSettings: settings),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "RestorationKit", path: "..", traits: measuresStores ? ["PostgreSQL"] : []),
    .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
    .package(url: "https://github.com/apple/swift-protobuf.git", exact: "1.39.0"),
    // The default traits need jemalloc, and the malloc counter cannot be had everywhere.
    .package(url: "https://github.com/ordo-one/benchmark.git", exact: "1.38.1", traits: []),
  ],
  targets: [
    // CSodium of the root package is not for others, and two targets cannot share a name.
    .systemLibrary(
      name: "Libsodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .target(
      name: "Workload",
      dependencies: [
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    .target(
      name: "Peers",
      dependencies: [
        "Libsodium", "Workload",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      exclude: ["Protobuf/catalog.proto"], swiftSettings: settings),
    .target(name: "Tables", swiftSettings: settings),
    .executableTarget(
      name: "CompareTable",
      dependencies: [
        "Peers", "Tables", "Workload",
        .product(name: "ArchiveCodec", package: "RestorationKit"),
        .product(name: "RestorationKit", package: "RestorationKit"),
      ],
      swiftSettings: settings),
    // The plugin looks for targets in a folder named Benchmarks, which this package is.
    .executableTarget(
      name: "CatalogBenchmarks",
      dependencies: [
        "Peers", "Workload",
        .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "CatalogBenchmarks", swiftSettings: settings,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ] + (measuresStores ? stores : []),
  swiftLanguageModes: [.v6]
)
