public import Foundation

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

  func save(_ edits: [UUID: ProductEdit]) throws(CatalogError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      let named = edits.map { ($0.key.uuidString, $0.value) }
      let data = try encoder.encode(Contents(edits: Dictionary(uniqueKeysWithValues: named)))
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
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
