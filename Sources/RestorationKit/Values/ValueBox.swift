internal import ArchiveCodec
internal import Observation
internal import Synchronization

/// One value of any type that is saved and restored.
protocol RestorableValueBox: AnyObject, Sendable {
  /// The type of the value.
  var valueType: Any.Type { get }

  /// Whether code of the app decodes the value.
  var isOfApp: Bool { get }

  /// Whether the value is to be stored, because it was set or restored.
  var isStored: Bool { get }

  /// Whether the value was set, and not restored since.
  var isSet: Bool { get }

  /// The stored value if it does not fit the type; nil if it fits, or a value was set since.
  var unfitContent: ValueContent? { get }

  /// The value in its stored form; nil if it was neither set nor restored.
  func content() throws -> ValueContent?

  /// Writes the value under a key: as it was restored, unless it was set since.
  func encode(with coder: StateEncoder, forKey key: String) throws

  /// Takes a stored value, which replaces the one that is there.
  func take(_ stored: ValueContent, forKey key: String) -> ValueFinding

  /// Goes back to the value of the declaration, which is not stored.
  func reset()
}

/// The value of any type in a field of a screen.
protocol RestorableFieldBox: AnyObject, Sendable {
  /// Whether a save has asked for the value.
  var isReached: Bool { get }

  /// The record of its own that the field has, once it is large.
  var record: FieldRecord? { get set }

  /// Writes the value, also if nobody has set it.
  func encodeField(with coder: StateEncoder, forKey key: String) throws

  /// Writes the value that could be encoded or was restored last; nothing if there is none.
  func encodeLastField(with coder: StateEncoder, forKey key: String)

  /// Reads the value; without a stored one the value stays as it is.
  ///
  /// With `keepsUnfit` a stored value that does not fit goes on being stored until the value is set.
  func restore(from coder: StateDecoder, forKey key: String, keepsUnfit: Bool)

  /// Takes the value of a record of its own.
  func restore(_ stored: ValueContent, forKey key: String, keepsUnfit: Bool) -> ValueFinding
}

extension ValueContent {
  /// The value in a record of its own, to be decoded once its type is known; nil if the record has
  /// none.
  init?(ofRecord record: KeyedDecoder) {
    do {
      guard record.contains(ValueStore.valueKey) else { return nil }
      try self.init(copying: ValueStore.valueKey, from: record)
    } catch {
      // The record has another form, so it is no record of a value. Its bytes stay
      // stored until the value is set.
      return nil
    }
  }

  /// Tells the record of the value from others, as ``StoredTree/Values/fingerprint`` does.
  var fingerprintOfRecord: RecordFingerprint {
    do {
      let state = try KeyedDecoder.encoding { encoder in
        try encoder.copy(Self.key, from: open(), as: ValueStore.valueKey)
      }
      return StoredTree.Values(builtIn: nil, state: state).fingerprint
    } catch {
      return .unknown
    }
  }
}

/// The problems of decoding a stored value.
struct ValueFinding: Sendable {
  var notes: [ReportNote] = []
  /// Whether the decoded value is the whole stored value.
  var isWhole = true
}

/// The value of a key, or of a field of a screen.
///
/// Any thread may read and set the value. Observation does not see the value's type: a
/// key path through a generic class takes 2 to 3 µs each time, and one through
/// ``ValueSignal`` a tenth of that.
final class ValueBox<Value: Codable & Sendable>: RestorableValueBox, RestorableFieldBox {
  private struct HeldValue {
    var value: Value
    /// The bytes that stand for the value until it is set.
    var stored: ValueContent?
    /// Whether the value was decoded from all stored bytes, and none were left out.
    var isWhole = true
    var isSet = false
    var record: FieldRecord?
    /// The value of a field that could be encoded or was restored last, in case a later
    /// value cannot be encoded.
    var lastOfField: Value?
    /// Whether a save has asked for the value as that of a field.
    var isReached = false
  }

  /// The result of setting a value.
  struct Change {
    /// Whether the set value has to be stored.
    var isChange: Bool
    /// The stored value that was replaced although it could not be decoded as a whole.
    var undecoded: RecordFingerprint?
  }

  private let initial: Value
  private let held: Mutex<HeldValue>
  /// Held while the value is changed by code of the app, whose reads must not wait.
  private let changing = Mutex(())
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  init(_ initial: Value) {
    self.initial = initial
    held = Mutex(HeldValue(value: initial))
  }

  var valueType: Any.Type { Value.self }

  var isOfApp: Bool {
    !(Value.self is any BinaryInteger.Type || Value.self == String.self || Value.self == Bool.self)
  }

  var isStored: Bool { held.withLock { $0.isSet || $0.stored != nil } }

  var isSet: Bool { held.withLock(\.isSet) }

  var isReached: Bool { held.withLock(\.isReached) }

  var unfitContent: ValueContent? { held.withLock { $0.isWhole ? nil : $0.stored } }

  func content() throws -> ValueContent? {
    let held = held.withLock { $0 }
    if let stored = held.stored { return stored }
    guard held.isSet else { return nil }
    return try ValueContent(held.value)
  }

  /// The value, if one was set or restored.
  var storedValue: Value? {
    let value = value
    return isStored ? value : nil
  }

  var value: Value {
    registrar.access(signal, keyPath: ValueSignal.path)
    return held.withLock(\.value)
  }

  /// Sets the value.
  ///
  /// An equal value tells no reader. The value is stored all the same, unless its
  /// stored form is known to be identical: equal values may differ in form, as 0.0 and
  /// -0.0. Setting the value of the declaration stores it, too.
  func set(_ value: Value) -> Change {
    let (old, isKnown) = held.withLock { ($0.value, $0.isSet || $0.stored != nil && $0.isWhole) }
    // The comparison is code of the app, so it runs without the lock.
    let isEqual = old.isEqual(to: value)
    if isEqual, isKnown, old.isIdentical(to: value) { return Change(isChange: false) }
    guard !isEqual else { return changing.withLock { _ in replace(value) } }
    return registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      changing.withLock { _ in replace(value) }
    }
  }

  /// Sets the value to what a body makes of it; no other set comes between.
  ///
  /// The readers are told before, since what they run must not wait for the body.
  func change<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> (result: Result, change: Change) {
    registrar.willSet(signal, keyPath: ValueSignal.path)
    defer { registrar.didSet(signal, keyPath: ValueSignal.path) }
    return try changing.withLock { _ throws(Failure) in
      let (old, isKnown) = held.withLock { ($0.value, $0.isSet || $0.stored != nil && $0.isWhole) }
      var value = old
      let result = try body(&value)
      let isChange = !(isKnown && old.isEqual(to: value) && old.isIdentical(to: value))
      return (result, isChange ? replace(value) : Change(isChange: false))
    }
  }

  private func replace(_ value: Value) -> Change {
    held.withLock { held in
      let undecoded = held.isWhole ? nil : held.stored?.fingerprintOfRecord
      held = HeldValue(
        value: value, isSet: true, record: held.record, lastOfField: held.lastOfField,
        isReached: held.isReached)
      return Change(isChange: true, undecoded: undecoded)
    }
  }

  func reset() {
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      held.withLock { $0 = HeldValue(value: initial) }
    }
  }

  func take(_ stored: ValueContent, forKey key: String) -> ValueFinding {
    let found = decode(stored, key)
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      held.withLock {
        $0 = HeldValue(
          value: found.value ?? $0.value, stored: stored, isWhole: found.finding.isWhole)
      }
    }
    return found.finding
  }

  private func decode(
    _ stored: ValueContent, _ key: String
  ) -> (value: Value?, finding: ValueFinding) {
    do {
      let record = try stored.open()
      let mended = try record.decodeIfPresent(
        forKey: ValueContent.key, standIn: held.withLock(\.value))
      let finding = mended.flatMap(MendedFields.init).map { fields in
        ValueFinding(notes: fields.notes.map { $0.ofField(in: key) }, isWhole: fields.isWhole)
      }
      return (mended?.value, finding ?? ValueFinding())
    } catch {
      return (
        nil,
        ValueFinding(notes: [.storageTypeMismatch(key: key, error.reason)], isWhole: false)
      )
    }
  }

  var record: FieldRecord? {
    get { held.withLock(\.record) }
    set { held.withLock { $0.record = newValue } }
  }

  func restore(_ stored: ValueContent, forKey key: String, keepsUnfit: Bool) -> ValueFinding {
    let found = decode(stored, key)
    takeField(found.value, unfit: keepsUnfit && !found.finding.isWhole ? stored : nil)
    return found.finding
  }

  /// Decodes without throwing: a field that does not fit costs the screen nothing else.
  func restore(from coder: StateDecoder, forKey key: String, keepsUnfit: Bool) {
    let old = held.withLock(\.value)
    var found: MendedValue<Value>?
    var fields: MendedFields?
    do {
      found = try coder.mendedValue(forKey: key, standIn: old)
      // A field that is not stored keeps what it has.
      guard let found else { return coder.isPutBack ? reset() : () }
      fields = MendedFields(found)
    } catch {
      fields = MendedFields(replacing: key, error)
    }
    let unfit = keepsUnfit && found?.isWhole != true ? coder.content(forKey: key) : nil
    if let unfit { fields?.keep(unfit) }
    if let fields { coder.note(fields) }
    takeField(found?.value, unfit: unfit)
  }

  /// Takes the restored value of a field, and the stored one if that does not fit.
  private func takeField(_ value: Value?, unfit: ValueContent?) {
    guard value != nil || unfit != nil else { return }
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      held.withLock { held in
        held = HeldValue(
          value: value ?? held.value, stored: unfit, isWhole: unfit == nil, record: held.record,
          lastOfField: value)
      }
    }
  }

  func encode(with coder: StateEncoder, forKey key: String) throws {
    let held = held.withLock { $0 }
    if let stored = held.stored {
      try coder.encode(stored, forKey: key)
    } else if held.isSet {
      try coder.encode(held.value, forKey: key)
    }
  }

  func encodeField(with coder: StateEncoder, forKey key: String) throws {
    let held = held.withLock { held in
      held.isReached = true
      return held
    }
    if let stored = held.stored {
      // As it was stored: a version whose type does not fit must not replace it by its mere start.
      return try coder.encode(stored, forKey: key)
    }
    try coder.encode(held.value, forKey: key)
    self.held.withLock { $0.lastOfField = held.value }
  }

  func encodeLastField(with coder: StateEncoder, forKey key: String) {
    guard let last = held.withLock(\.lastOfField) else { return }
    do {
      try coder.attempt { try coder.encode(last, forKey: key) }
    } catch {
      // The value holds an object that has changed since. The field has a note already.
    }
  }
}

/// The object that observation sees in place of a value.
final class ValueSignal: Observable, Sendable {
  var value: Never? { nil }
  static let path: any KeyPath<ValueSignal, Never?> & Sendable = \.value
}

extension Decodable where Self: Encodable {
  /// Whether an equal value has the identical stored form; false if that is not known.
  fileprivate func isIdentical(to other: Self) -> Bool {
    switch self {
    case let text as String: (other as? String).map { $0.utf8.elementsEqual(text.utf8) } ?? false
    case is any BinaryInteger, is Bool: true
    default: false
    }
  }

  /// Whether readers could not tell another value from this one.
  ///
  /// False where nobody can tell, as for an object, which may have been changed since it was set.
  func isEqual(to other: Self) -> Bool {
    guard !(type(of: self) is any AnyObject.Type) else { return false }
    func equals<Value: Equatable>(_ value: Value) -> Bool { value == other as? Value }
    return (self as? any Equatable).map { equals($0) } ?? false
  }
}
