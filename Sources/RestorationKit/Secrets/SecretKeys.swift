internal import ArchiveCodec
internal import Synchronization

/// What tells a value with a sensitivity apart from all others.
package struct ValueID: Hashable, Sendable {
  /// The element of the object that encodes the value.
  let element: ElementID
  /// The keys that lead to the value in the state of the object.
  let keys: [String]
}

/// The subkeys of the secrets of one state, as far as they were read or made.
///
/// All code that opens or seals secrets of the state shares this object, so nobody can
/// open a secret that is forgotten here.
package final class SecretKeys: Subkeys {
  package struct Entry: Sendable {
    package let id: UInt64
    let value: ValueID
    let subkey: ValueSubkey
  }

  private struct Content {
    var entries: [UInt64: Entry] = [:]
    var ids: [ValueID: UInt64] = [:]
    /// The forgotten subkeys that a store may still have.
    var forgotten: Set<UInt64> = []
    var hasMoved = false
    var clearCount = 0
    var lossCount = 0
  }

  private let content = Mutex(Content())

  /// All subkeys with their values, by their numbers.
  var entries: [Entry] {
    content.withLock { $0.entries.values.sorted { $0.id < $1.id } }
  }

  subscript(id: UInt64) -> ValueSubkey? { content.withLock { $0.entries[id]?.subkey } }

  /// Finds the subkey for a value, or makes one.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - earlier: The subkeys that the object had before, also at other paths.
  ///   - isFree: Whether no other object has a subkey.
  /// - Returns: The subkey, the number by which a stored value names it, and whether it
  ///   was made now.
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  func subkey(
    for value: ValueID, earlier: [UInt64], isFree: (UInt64) -> Bool
  ) throws(ArchiveError) -> (id: UInt64, subkey: ValueSubkey, isNew: Bool) {
    let known = content.withLock { content -> Entry? in
      let own = earlier.first { content.entries[$0]?.value.keys == value.keys && isFree($0) }
      let id = own ?? content.ids[value].flatMap { isFree($0) ? $0 : nil }
      return id.flatMap { content.entries[$0] }
    }
    if let known { return (known.id, known.subkey, false) }
    let subkey = try ValueSubkey()
    return content.withLock { content in
      var id: UInt64
      repeat { id = .random(in: 1 ... .max) } while content.entries[id] != nil
      content.entries[id] = Entry(id: id, value: value, subkey: subkey)
      content.ids[value] = id
      return (id, subkey, true)
    }
  }

  /// The forgotten subkeys that a store may still have.
  package var forgotten: Set<UInt64> {
    get { content.withLock { $0.forgotten } }
    set { content.withLock { $0.forgotten = newValue } }
  }

  /// Forgets the selected subkeys, and remembers their numbers until the store has
  /// forgotten them.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  func forget(_ selection: SecretSelection) -> Bool {
    let gone = entries.filter { selection.contains($0.value) }.map(\.id)
    content.withLock { content in
      content.forgotten.formUnion(gone)
      // A save under way compares this count, and begins again.
      if selection == .all { content.clearCount += 1 }
    }
    return remove { selection.contains($0.value) }
  }

  /// Adds subkeys that were read, without forgotten ones.
  ///
  /// A value that has a subkey keeps it.
  func add(_ read: [Entry]) {
    content.withLock { content in
      for entry in read
      where content.entries[entry.id] == nil && !content.forgotten.contains(entry.id) {
        content.entries[entry.id] = entry
        if content.ids[entry.value] == nil { content.ids[entry.value] = entry.id }
      }
    }
  }

  /// Whether subkeys belong to other values than the stored file says.
  var hasMoved: Bool {
    get { content.withLock { $0.hasMoved } }
    set { content.withLock { $0.hasMoved = newValue } }
  }

  /// Changes the path of subkeys to that of their object.
  ///
  /// When an element moves, the objects below it move too, and a save need not ask them. So their
  /// paths are changed apart from the asking.
  func move(_ ids: [UInt64], to element: ElementID) {
    content.withLock { content in
      for id in ids {
        guard let entry = content.entries[id] else { continue }
        let value = ValueID(element: element, keys: entry.value.keys)
        guard value != entry.value else { continue }
        if content.ids[entry.value] == id { content.ids[entry.value] = nil }
        content.ids[value] = id
        content.entries[id] = Entry(id: id, value: value, subkey: entry.subkey)
        content.hasMoved = true
      }
    }
  }

  /// How often all subkeys were forgotten.
  var clearCount: Int { content.withLock { $0.clearCount } }

  /// How often subkeys were forgotten.
  var lossCount: Int { content.withLock { $0.lossCount } }

  /// Forgets all subkeys; a save under way then begins again.
  package func removeAll() {
    content.withLock {
      $0 = Content(clearCount: $0.clearCount + 1, lossCount: $0.lossCount + 1)
    }
  }

  /// Forgets all subkeys but some; a save under way then begins again.
  func removeAll(besides kept: Set<UInt64>) {
    remove { !kept.contains($0.id) }
    content.withLock { $0.clearCount += 1 }
  }

  /// Forgets the subkeys that a condition names.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  func remove(where isGone: (Entry) -> Bool) -> Bool {
    content.withLock { content in
      let gone = content.entries.values.filter(isGone)
      if !gone.isEmpty { content.lossCount += 1 }
      for entry in gone {
        content.entries[entry.id] = nil
        if content.ids[entry.value] == entry.id { content.ids[entry.value] = nil }
      }
      return !gone.isEmpty
    }
  }
}
