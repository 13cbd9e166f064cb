internal import ArchiveCodec
internal import RestorationKit

/// States in files, of which one counts what is done to it.
struct CountingDirectory: StateDirectory {
  let counted: CountingStorage
  private let directory: FileStateDirectory
  private let name: String

  init(_ directory: FileStateDirectory, counting name: String = "main") {
    counted = CountingStorage(directory.storage(named: name))
    self.directory = directory
    self.name = name
  }

  func storage(named name: String) -> any ArchiveStorage {
    name == self.name ? counted : directory.storage(named: name)
  }

  func names() throws(ArchiveError) -> [String] { try directory.names() }
}
