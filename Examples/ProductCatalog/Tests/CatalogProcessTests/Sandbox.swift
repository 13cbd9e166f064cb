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

  var stateFile: URL { directory.appending(path: "state/\(Self.application)/main.rka") }
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
    let facts = try? FileManager.default.attributesOfItem(atPath: stateFile.path)
    guard let number = facts?[.systemFileNumber], let date = facts?[.modificationDate] as? Date
    else { return nil }
    return "\(number) \(date.timeIntervalSince1970)"
  }
}
