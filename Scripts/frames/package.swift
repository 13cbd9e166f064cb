import PackageDescription

let package = Package(
  name: "Notes",
  // The block stands here.
)
