internal import ArchiveCodec

/// The records, objects and subkeys that kept states name.
struct KeptReferences {
  struct Object {
    weak var object: (any StateRestoring)?

    init(_ object: any StateRestoring) { self.object = object }
  }

  /// The owner of the states that refer to a subkey.
  enum SubkeyOwner {
    /// An element that is not back, by its place.
    case element(Int)
    case object(Object)
  }

  /// The stored records to which kept states refer.
  var records: Set<UInt64> = []
  /// The objects of these records.
  var objects: [UInt64: Object] = [:]
  /// The owners of the subkeys to which kept states refer.
  private(set) var subkeys: [UInt64: SubkeyOwner] = [:]

  mutating func noteSubkeys(of states: [StoredTree.Values], _ owner: SubkeyOwner) {
    for values in states.compactMap(\.sensitive) {
      do {
        for subkey in try StoredSensitiveValue.all(in: values).compactMap(\.subkey) {
          subkeys[subkey] = owner
        }
      } catch {
        // Values that cannot be read can be opened by nobody, so their subkeys do not matter.
      }
    }
  }
}
