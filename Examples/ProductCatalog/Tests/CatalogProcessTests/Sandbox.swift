import Foundation
import XCTest

/// A directory of its own for a test, which goes away with it.
final class Sandbox {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "catalog-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  var stateDirectory: URL { directory.appending(path: "state/\(Self.application)") }

  /// The files of windows, in any order.
  var windowFiles: [URL] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: stateDirectory.path)
    return (names ?? []).filter(Self.isWindowFile).map { stateDirectory.appending(path: $0) }
  }

  private static func isWindowFile(_ name: String) -> Bool {
    name == "main.rka"
  }

  /// What killed saves have left under temporary names.
  var leftovers: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: stateDirectory.path)
    return (names ?? []).filter { $0.hasSuffix(".tmp") }
  }

  /// The names of all files and directories in the sandbox itself.
  var files: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
  }

  var keyFile: URL { directory.appending(path: "data/restoration-keys/\(Self.application).key") }

  private static let application = "org.restorationkit.product-catalog"

  var environment: [String: String] {
    let homes = ["XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data", "HOME": "home"]
    return ProcessInfo.processInfo.environment
      .merging(homes.mapValues { directory.appending(path: $0).path }) { $1 }
  }

  /// A place for a file that no other process of the test uses.
  func newFile() -> URL {
    directory.appending(path: UUID().uuidString)
  }

  /// Changes whenever the state is stored anew, because that makes a new file.
  var stateVersion: String? {
    let files = windowFiles
    guard !files.isEmpty else { return nil }
    return files.map { file in
      let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
      let date = facts?[.modificationDate] as? Date
      return "\(facts?[.systemFileNumber] ?? "none") \(date?.timeIntervalSince1970 ?? 0)"
    }.sorted().joined(separator: " ")
  }
}
