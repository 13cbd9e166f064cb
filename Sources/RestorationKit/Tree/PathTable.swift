internal import Synchronization

/// The paths in an encoded value, each name written once.
///
/// While a table is ``current``, a path is encoded as its number in the table, and
/// decoded from that number: whole paths of a deep tree would need a square of space.
/// The empty path has the number 0.
final class PathTable: Sendable {
  /// The table that paths are encoded and decoded with; nil for whole paths.
  ///
  /// Most paths lie in values whose coding the compiler writes, so no call can give
  /// them the table.
  @TaskLocal static var current: PathTable?

  fileprivate struct Step: Hashable {
    /// The number of the path above.
    var above = 0
    var name: String
    var siblingIndex = 0
  }

  private struct Content {
    var steps: [Step] = []
    var numbers: [Step: Int] = [:]
    /// The numbers by identity.
    ///
    /// The paths are kept alive, or another path could get their identity.
    var known: [RestorationPath.Identity: (path: RestorationPath, number: Int)] = [:]
    /// The paths that were decoded.
    var paths = [RestorationPath()]
  }

  private let content: Mutex<Content>

  init() {
    content = Mutex(Content())
  }

  /// The number of a path; adds the path with all paths above it.
  ///
  /// - Complexity: O(1) on average over the paths of a tree that share their beginnings.
  func number(of path: RestorationPath) -> Int {
    content.withLock { content in
      var unknown: [(path: RestorationPath, identity: RestorationPath.Identity)] = []
      var (next, number) = (path, 0)
      while let identity = next.identity {
        if let known = content.known[identity] {
          number = known.number
          break
        }
        unknown.append((next, identity))
        next = next.parent ?? RestorationPath()
      }
      for (path, identity) in unknown.reversed() {
        let step = Step(
          above: number, name: path.identifier ?? "", siblingIndex: path.siblingIndex)
        if let known = content.numbers[step] {
          number = known
        } else {
          content.steps.append(step)
          number = content.steps.count
          content.numbers[step] = number
        }
        content.known[identity] = (path, number)
      }
      return number
    }
  }

  /// The path with a number; nil if there is none.
  subscript(number: Int) -> RestorationPath? {
    content.withLock { $0.paths.indices.contains(number) ? $0.paths[number] : nil }
  }
}

extension PathTable: Codable {
  convenience init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    var paths = [RestorationPath()]
    for step in try container.decode([Step].self) {
      guard paths.indices.contains(step.above) else {
        throw DecodingError.dataCorruptedError(
          in: container,
          debugDescription: "Path \(paths.count) lies below one that does not come before it.")
      }
      paths.append(paths[step.above].appending(step.name, siblingIndex: step.siblingIndex))
    }
    self.init()
    let decoded = paths
    content.withLock { $0.paths = decoded }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(content.withLock { $0.steps })
  }
}

extension PathTable.Step: Codable {
  private enum CodingKeys: CodingKey {
    case above, name, siblingIndex
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    above = try container.decodeIfPresent(Int.self, forKey: .above) ?? 0
    siblingIndex = try container.decodeIfPresent(Int.self, forKey: .siblingIndex) ?? 0
  }

  /// Leaves out numbers that are 0.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    if above > 0 { try container.encode(above, forKey: .above) }
    if siblingIndex > 0 { try container.encode(siblingIndex, forKey: .siblingIndex) }
  }
}

extension KeyedEncodingContainer {
  /// Encodes a value, and then the table of its paths.
  mutating func encodePaths(
    forKey key: Key, of body: (inout Self) throws -> Void
  ) throws {
    let table = PathTable()
    try PathTable.$current.withValue(table) { try body(&self) }
    try encode(table, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a value with the table of its paths; with whole paths if there is none.
  func decodePaths<Value>(
    forKey key: Key, of body: (Self) throws -> Value
  ) throws -> Value {
    let table = try decodeIfPresent(PathTable.self, forKey: key)
    return try PathTable.$current.withValue(table) { try body(self) }
  }
}
