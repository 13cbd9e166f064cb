import Foundation
import Synchronization

/// A directory that is removed when the last reference to it goes, or when the process ends.
///
/// Its name begins with that of the file that makes it, so that what is left behind says who
/// has left it.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init(file: String = #fileID) throws {
    let name = URL(filePath: file).deletingPathExtension().lastPathComponent
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    let url = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(number)")
    path = url.path
    Self.removeAtExit(path)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  // MARK: At the end

  /// All that were made: what goes on after a test makes its directory again, and a test case
  /// lives, with all that it has, until the process ends.
  private static let made = Mutex<[String]>([])

  private static let isRegistered: Bool = {
    atexit { TemporaryDirectory.removeAll() } == 0
  }()

  private static func removeAtExit(_ path: String) {
    guard isRegistered else { return }
    made.withLock { $0.append(path) }
  }

  private static func removeAll() {
    for path in made.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }

  // MARK: What is in it

  package func child(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of what is in it, sorted.
  package func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  package func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: child(name)))
  }

  package func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: child(name))))
  }
}
