import PackageDescription

let package = Package(
  name: "Notes",
  targets: [
    // The block stands here.
  ])
