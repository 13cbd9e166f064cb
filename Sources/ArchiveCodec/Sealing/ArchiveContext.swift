/// The owner of an archive: an application, a state, a user.
///
/// The context is part of every key and is not stored. An archive opens only with the
/// context that it was written with. So nobody can replace an archive by one of another
/// app or user, even under the same key.
public struct ArchiveContext: Hashable, Sendable {
  /// The fields, in the order that they were given.
  public let fields: [String]

  let hash: [UInt8]

  /// Creates a context from fields; order and number matter.
  ///
  /// - Parameter fields: For example an application identifier and a name.
  public init(_ fields: [String]) {
    self.fields = fields
    let writer = ByteBuffer()
    for field in fields {
      writer.writeVarint(UInt64(field.utf8.count))
      writer.write(field.utf8)
    }
    hash = writer.withBytes { KeyDerivation.context.hash($0) }
  }
}
