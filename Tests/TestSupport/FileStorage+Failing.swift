package import ArchiveCodec

extension FileStorage {
  /// A storage whose directory is put on stable storage by another call than that of the system.
  package init(
    path: String, isDurable: Bool = true,
    synchronizingDirectory synchronize: @escaping Directory.Synchronize
  ) {
    self.init(path: path, isDurable: isDurable)
    directory = Directory(parentOf: path, synchronize: synchronize)
  }
}
