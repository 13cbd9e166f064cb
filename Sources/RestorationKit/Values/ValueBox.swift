internal import ArchiveCodec
internal import Observation
internal import Synchronization

/// One value that is saved and restored, whatever its type is.
protocol RestorableValueBox: AnyObject, Sendable {
  /// The type of the value.
  var valueType: Any.Type { get }

  /// Whether code of the app decodes the value.
  var isOfApp: Bool { get }

  /// Whether there is something to store: a value that was set, or one that was restored.
  var isStored: Bool { get }

  /// Whether the value was set, and not restored since.
  var isSet: Bool { get }

  /// What is stored and does not fit the type; nil if it does, or was set since.
  var unfitContent: RestoredContent? { get }

  /// How the value is kept.
  var sensitivity: Sensitivity? { get }

  /// The value as it is stored; nil if it is not, or has a sensitivity.
  func plainContent() throws -> ValueContent?

  /// Writes the value under a key: as it was restored, unless it was set since.
  func encode(with coder: StateEncoder, forKey key: String) throws

  /// Takes a value that was stored in the place of the one that is there.
  func take(_ stored: RestoredContent, forKey key: String) -> ValueFinding

  /// Goes back to the value of the declaration, and stores nothing.
  func reset()

  /// The same for a secret that was not set since it was restored.
  func forgetSecret()
}

/// The value of a field of a screen, whatever its type is.
protocol RestorableFieldBox: AnyObject, Sendable {
  /// The record of its own that the field has, once it is large.
  var record: FieldRecord? { get set }

  /// Writes the value, also if nobody has set it.
  func encodeField(with coder: StateEncoder, forKey key: String) throws

  /// Reads the value; one that is not stored stays as it is.
  func restore(from coder: StateDecoder, forKey key: String)

  /// Reads the value of a record of its own.
  func restore(_ stored: RestoredContent, forKey key: String) -> ValueFinding
}

/// A value as it was stored, for somebody who knows its type.
struct RestoredContent: Sendable {
  let content: ValueContent
  let sensitivity: Sensitivity?

  init(_ content: ValueContent) { (self.content, sensitivity) = (content, nil) }

  /// Nil if the record of a value has none, as after its time is over.
  init?(_ record: KeyedDecoder) {
    do {
      guard record.contains(ValueStore.valueKey) else { return nil }
      content = try ValueContent(copying: ValueStore.valueKey, from: record)
      sensitivity = try Sensitivity(ofValueIn: record)
    } catch {
      // No record of a value is otherwise; it stays stored until the value is set.
      return nil
    }
  }

  /// Tells what the record stores from others, as ``StoredTree/Values/fingerprint`` does.
  var fingerprint: RecordFingerprint {
    do {
      let state = try KeyedDecoder.encoding { encoder in
        let isPlain = sensitivity == nil
        if isPlain {
          try encoder.copy(ValueContent.key, from: content.open(), as: ValueStore.valueKey)
        }
        sensitivity?.encodeKind(with: encoder)
      }
      return StoredTree.Values(builtIn: nil, state: state).fingerprint
    } catch {
      return .unknown
    }
  }
}

/// How the record of a value says what its sensitivity is, for a launch that does not ask for
/// the value.
extension Sensitivity {
  private static let secretKey = "secret"
  private static let secondsKey = "seconds"

  fileprivate init?(ofValueIn record: KeyedDecoder) throws(ArchiveError) {
    if try record.decodeIfPresent(Bool.self, forKey: Self.secretKey) == true {
      self = .secret
    } else if let seconds = try record.decodeIfPresent(Double.self, forKey: Self.secondsKey) {
      self = .expiring(after: .seconds(seconds))
    } else {
      return nil
    }
  }

  /// Writes nothing of a value that is not stored.
  func encodeKind(with encoder: KeyedEncoder) {
    switch self {
    case .ephemeral: break
    case .secret: encoder.encode(true, forKey: Self.secretKey)
    case .expiring(let duration):
      encoder.encode(duration / .seconds(1), forKey: Self.secondsKey)
    }
  }
}

/// What was found when a stored value was decoded.
struct ValueFinding: Sendable {
  var notes: [ReportNote] = []
  /// Whether the value is all that is stored.
  var isWhole = true
}

/// The value of a key, or of a field of a screen.
///
/// Any thread may read and set it. Observation does not see its type: a key path through a
/// generic class takes 2 to 3 µs each time, and one through ``ValueSignal`` a tenth of that.
final class ValueBox<Value: Codable & Sendable>: RestorableValueBox, RestorableFieldBox {
  private struct Content {
    var value: Value
    /// The bytes that stand for the value until it is set.
    var stored: RestoredContent?
    /// Whether the value is what these bytes say, and no part of them was left out.
    var isWhole = true
    var isSet = false
    var record: FieldRecord?
  }

  /// What became of setting a value.
  struct Change {
    /// Whether there is something else to store.
    var isChange: Bool
    /// What it has replaced that could not be decoded as a whole.
    var undecoded: RecordFingerprint?
  }

  let sensitivity: Sensitivity?
  private let initial: Value
  private let content: Mutex<Content>
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  init(_ initial: Value, _ sensitivity: Sensitivity?) {
    self.initial = initial
    self.sensitivity = sensitivity
    content = Mutex(Content(value: initial))
  }

  var valueType: Any.Type { Value.self }

  var isOfApp: Bool {
    !(Value.self is any BinaryInteger.Type || Value.self == String.self || Value.self == Bool.self)
  }

  var isStored: Bool {
    if sensitivity == .ephemeral { return false }
    return content.withLock { $0.isSet || $0.stored != nil }
  }

  var isSet: Bool { content.withLock(\.isSet) }

  var unfitContent: RestoredContent? { content.withLock { $0.isWhole ? nil : $0.stored } }

  func plainContent() throws -> ValueContent? {
    let content = content.withLock { $0 }
    guard sensitivity == nil, content.stored?.sensitivity == nil else { return nil }
    if let stored = content.stored { return stored.content }
    guard content.isSet else { return nil }
    return try ValueContent(forKey: ValueContent.key) {
      try $0.encode(content.value, forKey: ValueContent.key)
    }
  }

  /// The value, if somebody has set or stored one.
  var storedValue: Value? {
    let value = value
    return isStored ? value : nil
  }

  var value: Value {
    registrar.access(signal, keyPath: ValueSignal.path)
    return content.withLock(\.value)
  }

  /// Sets the value.
  ///
  /// An equal one tells no reader. It is stored all the same, unless nothing of it can be stored
  /// otherwise: equal values may have another form, as 0.0 and -0.0. Setting what is only declared
  /// stores it, too.
  func set(_ value: Value) -> Change {
    let (old, isKnown) = content.withLock { ($0.value, $0.isSet || $0.stored != nil && $0.isWhole) }
    // The value's own comparison runs without the lock.
    let isEqual = old.isEqual(to: value)
    if isEqual, isKnown, old.isIdentical(to: value) { return Change(isChange: false) }
    guard !isEqual else { return replace(value) }
    return registrar.withMutation(of: signal, keyPath: ValueSignal.path) { replace(value) }
  }

  private func replace(_ value: Value) -> Change {
    content.withLock { content in
      let undecoded = content.isWhole ? nil : content.stored?.fingerprint
      content = Content(value: value, isSet: true, record: content.record)
      return Change(isChange: true, undecoded: undecoded)
    }
  }

  func reset() {
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      content.withLock { $0 = Content(value: initial) }
    }
  }

  func forgetSecret() {
    if content.withLock({ $0.stored?.sensitivity == .secret }) { reset() }
  }

  func take(_ stored: RestoredContent, forKey key: String) -> ValueFinding {
    let found = decode(stored, key)
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      content.withLock {
        $0 = Content(
          value: found.value ?? $0.value, stored: stored, isWhole: found.finding.isWhole)
      }
    }
    return found.finding
  }

  private func decode(
    _ stored: RestoredContent, _ key: String
  ) -> (value: Value?, finding: ValueFinding) {
    do {
      let record = try stored.content.open()
      let mended = try record.decodeIfPresent(
        forKey: ValueContent.key, standIn: content.withLock(\.value))
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
    get { content.withLock(\.record) }
    set { content.withLock { $0.record = newValue } }
  }

  func restore(_ stored: RestoredContent, forKey key: String) -> ValueFinding {
    let found = decode(stored, key)
    if let value = found.value {
      registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
        content.withLock { $0.value = value }
      }
    }
    return found.finding
  }

  /// A field that does not fit costs the screen nothing else.
  func restore(from coder: StateDecoder, forKey key: String) {
    let old = content.withLock(\.value)
    do {
      guard let value: Value = try coder.decodeIfPresent(forKey: key, standIn: old) else { return }
      registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
        content.withLock { $0.value = value }
      }
    } catch {
      coder.noteReplaced(key, error)
    }
  }

  func encode(with coder: StateEncoder, forKey key: String) throws {
    let content = content.withLock { $0 }
    if let stored = content.stored {
      try coder.encode(stored, forKey: key)
    } else if content.isSet {
      try encode(content.value, with: coder, forKey: key)
      if let sensitivity { coder.encodeKind(of: sensitivity) }
    }
  }

  func encodeField(with coder: StateEncoder, forKey key: String) throws {
    try encode(content.withLock(\.value), with: coder, forKey: key)
  }

  private func encode(_ value: Value, with coder: StateEncoder, forKey key: String) throws {
    if let sensitivity {
      try coder.encode(value, forKey: key, sensitivity: sensitivity)
    } else {
      try coder.encode(value, forKey: key)
    }
  }
}

/// What observation is told of in place of a value.
final class ValueSignal: Observable, Sendable {
  var value: Never? { nil }
  static let path: any KeyPath<ValueSignal, Never?> & Sendable = \.value
}

extension Decodable where Self: Encodable {
  /// Whether an equal value has the same form where it is stored, as far as that is known.
  fileprivate func isIdentical(to other: Self) -> Bool {
    switch self {
    case let text as String: (other as? String).map { $0.utf8.elementsEqual(text.utf8) } ?? false
    case is any BinaryInteger, is Bool: true
    default: false
    }
  }

  /// Whether another value is the same to those who read it; false where nobody can
  /// tell, as of an object, which may have been changed since it was set.
  func isEqual(to other: Self) -> Bool {
    guard !(type(of: self) is any AnyObject.Type) else { return false }
    func equals<Value: Equatable>(_ value: Value) -> Bool { value == other as? Value }
    return (self as? any Equatable).map { equals($0) } ?? false
  }
}

extension StateEncoder {
  /// Writes a value as it was restored.
  func encode(_ stored: RestoredContent, forKey key: String) throws {
    try encode(stored.content, forKey: key, stored.sensitivity)
    if let sensitivity = stored.sensitivity { encodeKind(of: sensitivity) }
  }

  fileprivate func encodeKind(of sensitivity: Sensitivity) {
    encodeOwn { sensitivity.encodeKind(with: $0) }
  }
}
