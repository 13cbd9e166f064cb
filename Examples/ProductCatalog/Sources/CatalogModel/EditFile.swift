public import Foundation
import RestorationDrafts

/// The file in the user's data directory that holds the user's edits.
///
/// The products themselves are never written.
public struct EditFile: Hashable, Sendable {
  /// The folder of the file.
  public let directory: URL

  /// Names the file in a folder, which need not exist.
  public init(directory: URL) {
    self.directory = directory
  }

  /// The file itself.
  public var location: URL {
    directory.appending(path: "edits.json")
  }

  /// Reads the edits.
  ///
  /// A file that is not there holds none.
  func load() throws(CatalogError) -> [UUID: ProductEdit] {
    guard FileManager.default.fileExists(atPath: location.path) else { return [:] }
    let data: Data
    do {
      data = try Data(contentsOf: location)
    } catch {
      throw .editsUnreadable(path: location.path)
    }
    do {
      return try edits(in: JSONDecoder().decode(Contents.self, from: data))
    } catch {
      throw .editsMalformed(path: location.path)
    }
  }

  /// The file as it is now; nil if there is none, or nobody can tell.
  func stamp() -> FileStamp? {
    do {
      return try FileStamp(of: location)
    } catch {
      // Then it is read again, and that says what is wrong with it.
      return nil
    }
  }

  /// Reads the edits, changes them, and writes them if they are others then.
  ///
  /// No other process changes them meanwhile. The lock is that of the folder, because the file is
  /// another one after each write.
  func change(
    _ change: (inout [UUID: ProductEdit]) throws(CatalogError) -> Void
  ) throws(CatalogError) {
    let folder = try openedFolder()
    defer { close(folder) }
    // Where the file system has no locks, others can write between reading and writing.
    while flock(folder, LOCK_EX) != 0, errno == EINTR {}
    let edits = try load()
    var changed = edits
    try change(&changed)
    if changed != edits { try save(changed) }
  }

  private func openedFolder() throws(CatalogError) -> CInt {
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    } catch {
      throw .editsNotSaved(path: location.path)
    }
    let folder = unsafe open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .editsNotSaved(path: location.path) }
    return folder
  }

  private func save(_ edits: [UUID: ProductEdit]) throws(CatalogError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      let named = edits.map { ($0.key.uuidString, $0.value) }
      let data = try encoder.encode(Contents(edits: Dictionary(uniqueKeysWithValues: named)))
      try data.write(to: location, options: .atomic)
    } catch {
      throw .editsNotSaved(path: location.path)
    }
  }

  private func edits(in contents: Contents) throws(CatalogError) -> [UUID: ProductEdit] {
    var edits: [UUID: ProductEdit] = [:]
    for (name, edit) in contents.edits {
      guard let id = UUID(uuidString: name) else { throw .editsMalformed(path: location.path) }
      edits[id] = edit
    }
    return edits
  }

  private struct Contents: Codable {
    var edits: [String: ProductEdit]
  }
}
