internal import Synchronization

/// The record of a field that is too large to be written with each change of another one.
///
/// The field keeps it, and the screen refers to it as to a registered object below itself.
final class FieldRecord: RestorableObject, Sendable {
  static let className = "@field"
  static let stateTracking = StateTracking.invalidated

  /// Only the actor of the screen asks for it.
  private struct Screen: @unchecked Sendable {
    weak var screen: (any StateRestoring)?
  }

  private struct Content {
    var screen = Screen()
    weak var box: (any RestorableFieldBox)?
    /// What was restored, until the screen takes it.
    var stored: RestoredContent?
  }

  let key: String
  private let content: Mutex<Content>

  init(_ key: String, of box: any RestorableFieldBox) {
    self.key = key
    content = Mutex(Content(box: box))
  }

  private init(_ key: String, stored: RestoredContent) {
    self.key = key
    content = Mutex(Content(stored: stored))
  }

  var screen: (any StateRestoring)? {
    get { content.withLock { $0.screen }.screen }
    set {
      let screen = Screen(screen: newValue)
      content.withLock { $0.screen = screen }
    }
  }

  var restorationParent: (any StateRestoring)? { screen }

  func encodeRestorableState(with coder: StateEncoder) throws {
    let content = content.withLock { $0 }
    if let box = content.box {
      try box.encodeField(with: coder, forKey: ValueStore.valueKey)
    } else if let stored = content.stored {
      try coder.encode(stored, forKey: ValueStore.valueKey)
    }
  }

  /// Gives what was restored to the field whose record it is.
  func take(
    _ box: any RestorableFieldBox, of screen: any StateRestoring, with coder: StateDecoder
  ) {
    self.screen = screen
    let stored = content.withLock { content in
      content.box = box
      return content.stored.take()
    }
    box.record = self
    guard let stored else { return }
    let finding = box.restore(stored, forKey: key)
    if !finding.notes.isEmpty || !finding.isWhole {
      coder.note(MendedFields(notes: finding.notes, isWhole: finding.isWhole))
    }
  }

  /// Makes a restore bring such records back.
  static func register(in types: TypeTable) throws(RestorationError) {
    try types.register(
      FieldRecord.self, as: className, aliases: [], version: 1, migrations: [],
      TypeTable.Making(
        factory: { path, coder in
          guard let key = path.identifier, let record = coder.wholeRecord else { return nil }
          return RestoredContent(record).map { FieldRecord(key, stored: $0) }
        }, isNamedBySaves: true, makesItsClass: true))
  }
}
