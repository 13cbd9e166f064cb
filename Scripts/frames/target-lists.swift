import PackageDescription

let package = Package(
  name: "Notes",
  targets: [
    .executableTarget(
      name: "Notes",
      // The block stands here.
    )
  ])
