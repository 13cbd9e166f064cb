internal import Foundation
internal import Mutants

/// A copy of the package, in which sources are changed and built.
///
/// It stays from run to run, and only files that differ are written, so that little is built anew.
struct ScratchPackage {
  /// The files of the package that are built and tested, by their paths.
  ///
  /// They are read once, so that they may be edited meanwhile.
  let originals: [String: Data]
  private let folder: URL
  private static let copied = [
    "Package.swift", "Plugins", "Sources", "Tests", "Fuzz/Sources/FuzzTargets",
  ]

  init(of original: URL) throws {
    originals = try Self.files(in: original)
    folder = original.appending(path: ".build/mutate/package")
  }

  /// Builds the tests with mutants in the sources, and gives the mutants that compile.
  func build(_ mutants: [Int: Mutant]) throws -> [Int: Mutant] {
    var left = mutants
    while true {
      report("Building \(left.count) mutants.")
      let schemata = try write(left)
      guard let output = try failedBuild() else { return left }
      let dropped = output.split(separator: "\n")
        .compactMap { failing(in: String($0), schemata) }
        .reduce(into: Set<Int>()) { $0.formUnion($1) }
      guard !dropped.isEmpty else { throw Failure(description: output) }
      for number in dropped { left[number] = nil }
    }
  }

  func testBundle() throws -> TestBundle {
    guard
      let path = try FileManager.default
        .contentsOfDirectory(atPath: folder.appending(path: ".build/debug").path)
        .first(where: { $0.hasSuffix(".xctest") })
    else { throw Failure(description: "The build made no tests.") }
    return try TestBundle(
      folder.appending(path: ".build/debug/\(path)"),
      scratch: folder.deletingLastPathComponent().appending(path: "run"))
  }

  // MARK: - Writing

  private func write(_ mutants: [Int: Mutant]) throws -> [String: Schemata] {
    var wanted = originals
    var schemata: [String: Schemata] = [:]
    for (file, mutants) in Dictionary(grouping: mutants, by: \.value.file) {
      let source = String(decoding: wanted[file] ?? Data(), as: UTF8.self)
      let changed = Schemata(Dictionary(uniqueKeysWithValues: mutants.map { ($0, $1) }), in: source)
      schemata[file] = changed
      wanted[file] = Data(changed.text.utf8)
    }
    let count = (mutants.keys.max() ?? 0) + 1
    for module in Set(mutants.values.map(\.module)) {
      wanted["Sources/\(module)/MutantSwitch.swift"] = Data(MutantSwitch.source(count: count).utf8)
    }
    try fill(with: wanted)
    return schemata
  }

  private func fill(with wanted: [String: Data]) throws {
    let present = try Self.files(in: folder)
    for path in present.keys where wanted[path] == nil {
      try FileManager.default.removeItem(at: folder.appending(path: path))
    }
    for (path, content) in wanted where present[path] != content {
      let file = folder.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try content.write(to: file)
    }
  }

  private static func files(in folder: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for top in copied {
      let place = folder.appending(path: top)
      if FileManager.default.isReadableFile(atPath: place.path), !isFolder(place) {
        files[top] = try Data(contentsOf: place)
      }
      guard let enumerator = FileManager.default.enumerator(atPath: place.path) else { continue }
      for case let path as String in enumerator {
        let file = place.appending(path: path)
        if !isFolder(file) { files["\(top)/\(path)"] = try Data(contentsOf: file) }
      }
    }
    return files
  }

  private static func isFolder(_ place: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  // MARK: - Building

  /// What a build says that fails; nil if it does not.
  private func failedBuild() throws -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "build", "--build-tests", "--package-path", folder.path,
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? nil : String(decoding: output, as: UTF8.self)
  }

  /// The mutants that a line of the compiler is about, as in `/a/Sources/B/C.swift:1:2: error: no`.
  private func failing(in line: String, _ schemata: [String: Schemata]) -> Set<Int>? {
    guard let match = line.firstMatch(of: #/^(/[^:]+):(\d+):(\d+): error: /#),
      match.1.hasPrefix(folder.path + "/"), let line = Int(match.2), let column = Int(match.3)
    else { return nil }
    return schemata[String(match.1.dropFirst(folder.path.count + 1))]?
      .mutants(atLine: line, column: column)
  }
}
