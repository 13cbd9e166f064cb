internal import ArchiveCodec
internal import Synchronization

/// Where a value with a sensitivity is.
struct ValuePlace: Hashable, Sendable {
  let kind: ElementKind
  /// Of the object that encodes it; empty for the application.
  let path: RestorationPath
  /// The keys that lead to it in the state of the object.
  let keys: [String]
}

/// The subkeys to which all refers that is stored with a save.
struct SecretUse: Sendable {
  let ids: Set<UInt64>
  /// How often all were forgotten when the save began; see ``SecretKeys/clearCount``.
  let clearCount: Int
}

/// The subkeys of the secrets of one state, as far as somebody has read or made them.
///
/// All who open or seal secrets of the state have this one, so what is forgotten here
/// nobody can open any more.
final class SecretKeys: Sendable {
  struct Entry: Sendable {
    let id: UInt64
    let place: ValuePlace
    let subkey: ValueSubkey
  }

  private struct Content {
    var entries: [UInt64: Entry] = [:]
    var ids: [ValuePlace: UInt64] = [:]
    /// What a store may still have.
    var forgotten: Set<UInt64> = []
    var hasMoved = false
    var clearCount = 0
    var lossCount = 0
  }

  private let content = Mutex(Content())

  var isEmpty: Bool { content.withLock { $0.entries.isEmpty } }

  /// All of them, in an order of their own.
  var entries: [Entry] {
    content.withLock { $0.entries.values.sorted { $0.id < $1.id } }
  }

  /// The subkey that a stored value names; nil if it is forgotten.
  subscript(id: UInt64) -> ValueSubkey? { content.withLock { $0.entries[id]?.subkey } }

  /// The subkey for what is encoded at a place, which is made if there is none.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - earlier: Those that the object had before, wherever it was.
  ///   - isFree: Whether no other object has one.
  /// - Returns: The subkey, the number by which a stored value names it, and whether it
  ///   was made now.
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  func subkey(
    for place: ValuePlace, earlier: [UInt64], isFree: (UInt64) -> Bool
  ) throws(ArchiveError) -> (id: UInt64, subkey: ValueSubkey, isNew: Bool) {
    let known = content.withLock { content -> Entry? in
      let own = earlier.first { content.entries[$0]?.place.keys == place.keys && isFree($0) }
      let id = own ?? content.ids[place].flatMap { isFree($0) ? $0 : nil }
      return id.flatMap { content.entries[$0] }
    }
    if let known { return (known.id, known.subkey, false) }
    let subkey = try ValueSubkey()
    return content.withLock { content in
      var id: UInt64
      repeat { id = .random(in: 1 ... .max) } while content.entries[id] != nil
      content.entries[id] = Entry(id: id, place: place, subkey: subkey)
      content.ids[place] = id
      return (id, subkey, true)
    }
  }

  /// Those that are forgotten here, and that a store may still have.
  var forgotten: Set<UInt64> {
    get { content.withLock { $0.forgotten } }
    set { content.withLock { $0.forgotten = newValue } }
  }

  /// Forgets some, and remembers which they were until the store has that.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  func forget(_ selection: SecretSelection) -> Bool {
    let gone = entries.filter { selection.contains($0.place) }.map(\.id)
    content.withLock { content in
      content.forgotten.formUnion(gone)
      // A save that has begun has to begin again.
      if selection == .all { content.clearCount += 1 }
    }
    return remove { selection.contains($0.place) }
  }

  /// Adds those that were read and are not forgotten; of one place the one that is there goes on.
  func add(_ read: [Entry]) {
    content.withLock { content in
      for entry in read
      where content.entries[entry.id] == nil && !content.forgotten.contains(entry.id) {
        content.entries[entry.id] = entry
        if content.ids[entry.place] == nil { content.ids[entry.place] = entry.id }
      }
    }
  }

  /// Whether some lie elsewhere than is stored.
  var hasMoved: Bool {
    get { content.withLock { $0.hasMoved } }
    set { content.withLock { $0.hasMoved = newValue } }
  }

  /// Says where the object of some is now: it need not have been asked when one above it
  /// got another place.
  func move(_ ids: [UInt64], to kind: ElementKind, _ path: RestorationPath) {
    content.withLock { content in
      for id in ids {
        guard let entry = content.entries[id] else { continue }
        let place = ValuePlace(kind: kind, path: path, keys: entry.place.keys)
        guard place != entry.place else { continue }
        if content.ids[entry.place] == id { content.ids[entry.place] = nil }
        content.ids[place] = id
        content.entries[id] = Entry(id: id, place: place, subkey: entry.subkey)
        content.hasMoved = true
      }
    }
  }

  /// How often all were forgotten.
  var clearCount: Int { content.withLock { $0.clearCount } }

  /// How often some were forgotten.
  var lossCount: Int { content.withLock { $0.lossCount } }

  /// Forgets all; a save that has begun has to begin again.
  func removeAll() {
    content.withLock {
      $0 = Content(clearCount: $0.clearCount + 1, lossCount: $0.lossCount + 1)
    }
  }

  /// Forgets all but some; a save that has begun has to begin again.
  func removeAll(besides kept: Set<UInt64>) {
    remove { !kept.contains($0.id) }
    content.withLock { $0.clearCount += 1 }
  }

  /// Forgets some.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  func remove(where isGone: (Entry) -> Bool) -> Bool {
    content.withLock { content in
      let gone = content.entries.values.filter(isGone)
      if !gone.isEmpty { content.lossCount += 1 }
      for entry in gone {
        content.entries[entry.id] = nil
        if content.ids[entry.place] == entry.id { content.ids[entry.place] = nil }
      }
      return !gone.isEmpty
    }
  }
}
