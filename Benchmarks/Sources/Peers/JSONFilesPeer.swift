internal import Crypto
internal import Foundation
package import Workload

/// Many small files of sealed JSON, replaced as safely as a file of ours: a
/// temporary file, fsync, rename, fsync of the directory.
package final class JSONFilesPeer {
  private let pages: [[Product]]
  private let directories: [String]
  private let key = SymmetricKey(size: .bits256)

  /// Makes a directory for each page of products.
  package init(_ pages: [[Product]], path: (Product) -> String) throws {
    self.pages = pages
    directories = pages.map { path($0[0]) }
    for directory in directories {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }
  }

  /// Removes the files, and not the directories.
  package func startAnew() throws {
    for directory in directories { try FileManager.default.removeItem(atPath: file(in: directory)) }
  }

  package func save() throws {
    for (page, directory) in zip(pages, directories) {
      let encoded = try JSONEncoder().encode(page)
      try replace(
        file(in: directory), in: directory,
        by: [UInt8](try ChaChaPoly.seal(encoded, using: key).combined))
    }
  }

  @discardableResult
  package func restore() throws -> [[Product]] {
    try directories.map { directory in
      let sealed = try Data(contentsOf: URL(filePath: file(in: directory)))
      let encoded = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
      return try JSONDecoder().decode([Product].self, from: encoded)
    }
  }

  private func file(in directory: String) -> String { "\(directory)/main.json" }

  private func replace(_ path: String, in directory: String, by bytes: [UInt8]) throws {
    let temporary = "\(path).\(UInt64.random(in: .min ... .max)).tmp"
    try withFile(temporary, O_WRONLY | O_CREAT | O_EXCL) { file in
      write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
    }
    guard rename(temporary, path) == 0 else { throw WorkloadError("\(path) cannot be replaced") }
    try withFile(directory, O_RDONLY | O_DIRECTORY) { fsync($0) == 0 }
  }

  private func withFile(_ path: String, _ flags: CInt, _ body: (CInt) -> Bool) throws {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw WorkloadError("\(path) cannot be opened") }
    defer { close(descriptor) }
    guard body(descriptor) else { throw WorkloadError("\(path) cannot be written") }
  }
}
