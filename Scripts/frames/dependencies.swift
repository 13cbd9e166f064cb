import PackageDescription

let package = Package(
  name: "Notes",
  targets: [
    .executableTarget(
      name: "Notes",
      dependencies: [
        // The block stands here.
      ])
  ])
