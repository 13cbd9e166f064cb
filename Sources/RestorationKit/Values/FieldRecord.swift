internal import Synchronization

/// The record of a field that is too large to be written with each change of another field.
///
/// The field keeps the record, and the screen refers to it as to a registered object
/// below the screen.
final class FieldRecord: RestorableObject, Sendable {
  static let className = "@field"
  static let stateTracking = StateTracking.invalidated

  /// Unchecked, since only the actor of the screen asks for the screen.
  private struct Screen: @unchecked Sendable {
    weak var screen: (any StateRestoring)?
  }

  private struct Link {
    var screen = Screen()
    weak var box: (any RestorableFieldBox)?
    /// The restored value, until the screen takes it.
    var stored: ValueContent?
  }

  let key: String
  private let link: Mutex<Link>

  init(_ key: String, of box: any RestorableFieldBox) {
    self.key = key
    link = Mutex(Link(box: box))
  }

  private init(_ key: String, stored: ValueContent) {
    self.key = key
    link = Mutex(Link(stored: stored))
  }

  var screen: (any StateRestoring)? {
    get { link.withLock { $0.screen }.screen }
    set {
      let screen = Screen(screen: newValue)
      link.withLock { $0.screen = screen }
    }
  }

  var restorationParent: (any StateRestoring)? { screen }

  func encodeRestorableState(with coder: StateEncoder) throws {
    let link = link.withLock { $0 }
    if let box = link.box {
      try box.encodeField(with: coder, forKey: ValueStore.valueKey)
    } else if let stored = link.stored {
      try coder.encode(stored, forKey: ValueStore.valueKey)
    }
  }

  /// Gives the restored value to the field that the record belongs to.
  func take(
    _ box: any RestorableFieldBox, of screen: any StateRestoring, with coder: StateDecoder,
    keepsUnfit: Bool
  ) {
    self.screen = screen
    let stored = link.withLock { link in
      link.box = box
      return link.stored.take()
    }
    box.record = self
    guard let stored else { return }
    let finding = box.restore(stored, forKey: key, keepsUnfit: keepsUnfit)
    if !finding.notes.isEmpty || !finding.isWhole {
      var fields = MendedFields(notes: finding.notes, isWhole: finding.isWhole)
      if keepsUnfit, !finding.isWhole { fields.keep(stored) }
      coder.note(fields)
    }
  }

  /// Lets a restore make these records.
  static func register(in types: TypeTable) throws(RestorationError) {
    try types.register(
      FieldRecord.self, as: className, aliases: [], version: 1, migrations: [],
      TypeTable.Making(
        factory: { path, coder in
          guard let key = path.identifier, let record = coder.wholeRecord else { return nil }
          return ValueContent(ofRecord: record).map { FieldRecord(key, stored: $0) }
        }, isNamedBySaves: true, makesItsClass: true))
  }
}
