internal import ArchiveCodec
internal import Observation
internal import Synchronization

/// One value of any type that is saved and restored.
protocol AnyValueBox: AnyObject, Sendable {
  var valueType: Any.Type { get }

  /// Whether code of the app decodes the value.
  var isOfApp: Bool { get }

  /// Whether the value was set, or restored as it is stored.
  var isWhole: Bool { get }

  /// Whether a save has asked for the value as that of a field.
  var isReached: Bool { get }

  func encode(with coder: KeyedEncoder) throws

  /// Takes a stored value, as far as it fits; returns what does not.
  func take(_ stored: ValueContent, forKey key: String) -> ValueFinding

  /// Writes the field of a screen, also if nobody has set it.
  func encodeField(with coder: StateEncoder, forKey key: String) throws

  /// Writes the value that could be encoded or was restored last; nothing if there is none.
  func encodeLastField(with coder: StateEncoder, forKey key: String)

  /// Reads the field of a screen; without a stored one the value stays as it is.
  func restore(from coder: StateDecoder, forKey key: String)

  /// Goes back to the value of the declaration, which is not stored.
  func reset()
}

/// What was found while a stored value was decoded, and whether the decoded value is the whole stored one.
typealias ValueFinding = (problems: [ReportNote], isWhole: Bool)

/// The value of a key, or of a field of a screen.
///
/// Any thread may read and set the value. Observation does not see the value's type: a
/// key path through a generic class takes 2 to 3 µs each time, and one through
/// ``ValueSignal`` a tenth of that.
final class ValueBox<Value: Codable & Sendable>: AnyValueBox {
  private struct Held {
    var value: Value
    /// Nil for the value of the declaration; false for one of which a part did not fit.
    var isWhole: Bool?
    /// What is stored of a field that does not fit, until the field is set.
    var unfit: ValueContent?
    /// The value of a field that could be encoded or was restored last.
    var last: Value?
    var isReached = false
  }

  private let initial: Value
  private let held: Mutex<Held>
  /// Held while the value is changed by code of the app, whose reads must not wait.
  private let changing = Mutex(())
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  init(_ initial: Value) {
    self.initial = initial
    held = Mutex(Held(value: initial))
  }

  var valueType: Any.Type { Value.self }

  var isOfApp: Bool {
    !(Value.self is any BinaryInteger.Type || Value.self == String.self || Value.self == Bool.self)
  }

  var isWhole: Bool { held.withLock { $0.isWhole == true } }

  var isReached: Bool { held.withLock(\.isReached) }

  var value: Value {
    registrar.access(signal, keyPath: ValueSignal.path)
    return held.withLock(\.value)
  }

  /// The value, if one was set or restored.
  var storedValue: Value? {
    let value = value
    return held.withLock { $0.isWhole == nil } ? nil : value
  }

  /// Sets the value; returns whether it has to be stored.
  ///
  /// An equal value tells no reader. The value is stored all the same, unless its
  /// stored form is known to be identical: equal values may differ in form, as 0.0 and
  /// -0.0. Setting the value of the declaration stores it, too.
  func set(_ value: Value) -> Bool {
    let old = held.withLock { $0 }
    // The comparison is code of the app, so it runs without the lock.
    let isEqual = old.value.isEqual(to: value)
    if isEqual, old.isWhole == true, old.value.isIdentical(to: value) { return false }
    if !isEqual { return change { $0 = value }.isChange }
    changing.withLock { _ in replace(value) }
    return true
  }

  /// Sets the value to what a body makes of it; no other set comes between.
  ///
  /// The readers are told before, since what they run must not wait for the body.
  func change<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> (result: Result, isChange: Bool) {
    registrar.willSet(signal, keyPath: ValueSignal.path)
    defer { registrar.didSet(signal, keyPath: ValueSignal.path) }
    return try changing.withLock { _ throws(Failure) in
      let old = held.withLock { $0 }
      var value = old.value
      let result = try body(&value)
      let isSame =
        old.isWhole == true && old.value.isEqual(to: value) && old.value.isIdentical(to: value)
      if !isSame { replace(value) }
      return (result, !isSame)
    }
  }

  private func replace(_ value: Value) {
    held.withLock { ($0.value, $0.isWhole, $0.unfit) = (value, true, nil) }
  }

  func reset() {
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      held.withLock { $0 = Held(value: initial, isReached: $0.isReached) }
    }
  }

  /// Takes a restored value, or goes on with the one that is there if nothing fits.
  private func take(_ value: Value?, isWhole: Bool, unfit: ValueContent? = nil) {
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      held.withLock { held in
        held = Held(
          value: value ?? held.value, isWhole: isWhole, unfit: unfit, last: value,
          isReached: held.isReached)
      }
    }
  }

  func encode(with coder: KeyedEncoder) throws {
    try coder.encode(held.withLock(\.value), forKey: ValueContent.key)
  }

  func take(_ stored: ValueContent, forKey key: String) -> ValueFinding {
    do {
      let found = try stored.open()
        .decodeIfPresent(forKey: ValueContent.key, standIn: held.withLock(\.value))
      guard let found else { return ([], false) }
      take(found.value, isWhole: found.isWhole)
      let problems = found.replaced.map {
        ReportNote.fieldReplaced(key: "\(key).\($0.field)", $0.error.reason)
      }
      return (problems, found.isWhole)
    } catch {
      return ([.storageTypeMismatch(key: key, error.reason)], false)
    }
  }

  // MARK: A field

  func encodeField(with coder: StateEncoder, forKey key: String) throws {
    let held = held.withLock { held in
      held.isReached = true
      return held
    }
    if let unfit = held.unfit {
      // As it was stored: a version whose type does not fit must not replace it by its mere start.
      return try coder.encoder.copy(ValueContent.key, from: unfit.open(), as: key)
    }
    try coder.encode(held.value, forKey: key)
    self.held.withLock { $0.last = held.value }
  }

  func encodeLastField(with coder: StateEncoder, forKey key: String) {
    // The value may hold an object that has changed since. The field has a note already.
    try? coder.encoder.attempt { try coder.encode(held.withLock(\.last), forKey: key) }
  }

  func restore(from coder: StateDecoder, forKey key: String) {
    guard let (value, unfit) = coder.decodeField(forKey: key, standIn: held.withLock(\.value))
    else { return }
    if value != nil || unfit != nil { take(value, isWhole: unfit == nil, unfit: unfit) }
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
  fileprivate func isEqual(to other: Self) -> Bool {
    guard !(type(of: self) is any AnyObject.Type) else { return false }
    func equals<Value: Equatable>(_ value: Value) -> Bool { value == other as? Value }
    return (self as? any Equatable).map { equals($0) } ?? false
  }
}
