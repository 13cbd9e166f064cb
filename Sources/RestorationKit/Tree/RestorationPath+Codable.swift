extension RestorationPath: Codable {
  private enum CodingKeys: CodingKey {
    case identifiers, siblingIndices
  }

  /// Writes the identifiers, and the sibling indices if one is not 0.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(components, forKey: .identifiers)
    let indices = siblingIndices
    if indices.contains(where: { $0 > 0 }) {
      try container.encode(indices, forKey: .siblingIndices)
    }
  }

  /// Reads a path that ``encode(to:)`` wrote.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let identifiers = try container.decode([String].self, forKey: .identifiers)
    let indices =
      try container.decodeIfPresent([Int].self, forKey: .siblingIndices)
      ?? identifiers.map { _ in 0 }
    guard indices.count == identifiers.count else {
      throw DecodingError.dataCorruptedError(
        forKey: .siblingIndices, in: container,
        debugDescription: "There are not as many sibling indices as identifiers.")
    }
    self = zip(identifiers, indices).reduce(RestorationPath()) { path, next in
      path.appending(next.0, siblingIndex: next.1)
    }
  }
}
