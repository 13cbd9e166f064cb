internal import ArchiveCodec
internal import Observation
internal import Synchronization

/// One value of any type that is saved and restored.
protocol AnyValueBox: AnyObject, Sendable {
  var valueType: Any.Type { get }

  /// Whether the value was set, or restored as it is stored.
  var isWhole: Bool { get }

  func encode(with coder: KeyedEncoder) throws

  /// Takes a stored value, as far as it fits; returns what does not.
  func take(_ stored: ValueContent, forKey key: String) -> ValueFinding

  /// Writes the field of a screen, also if nobody has set it.
  ///
  /// - Returns: Why the value cannot be encoded, so that the last one is written that could be, if there is one.
  func encodeField(with coder: StateEncoder, forKey key: String) -> (any Error)?

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
    var hasReplacedUnfit = false
    /// The value of a field that could be encoded or was restored last.
    var last: Value?

    /// Whether another value has the identical stored form: equal ones may differ in form, as 0.0 and -0.0.
    func has(_ other: Value) -> Bool {
      isWhole == true && value.isEqual(to: other)
        && (try? ValueContent(value)) == (try? ValueContent(other))
    }
  }

  let initial: Value
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

  var isWhole: Bool { held.withLock { $0.isWhole == true } }

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
  /// An equal value tells no reader, and is stored all the same if its form may be another. Setting the value
  /// of the declaration stores it, too.
  func set(_ value: Value) -> Bool {
    let old = held.withLock { $0 }
    // The comparison is code of the app, so it runs without the lock.
    guard old.value.isEqual(to: value) else { return change { $0 = value }.isChange }
    if old.has(value) { return false }
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
      if old.has(value) { return (result, false) }
      replace(value)
      return (result, true)
    }
  }

  private func replace(_ value: Value) {
    var new = Held(value: value, isWhole: true)
    held.withLock { held in
      (new.last, new.hasReplacedUnfit) = (held.last, held.hasReplacedUnfit || held.unfit != nil)
      swap(&held, &new)
    }
  }

  func reset() { hold(Held(value: initial)) }

  private func hold(_ new: Held) {
    // The last reference to a value goes without the lock: a deinit may read this value.
    var other = new
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      held.withLock { swap(&$0, &other) }
    }
  }

  func encode(with coder: KeyedEncoder) throws {
    try coder.encode(held.withLock(\.value), forKey: ValueContent.key)
  }

  func take(_ stored: ValueContent, forKey key: String) -> ValueFinding {
    do {
      let now = held.withLock(\.value)
      guard let found = try stored.open().decodeIfPresent(forKey: ValueContent.key, standIn: now)
      else { return ([], false) }
      hold(Held(value: found.value, isWhole: found.isWhole))
      let problems = found.replaced.map { field, error in
        ReportNote.fieldReplaced(key: "\(key).\(field)", error.reason)
      }
      return (problems, found.isWhole)
    } catch {
      return ([.storageTypeMismatch(key: key, error.reason)], false)
    }
  }

  // MARK: A field

  func encodeField(with coder: StateEncoder, forKey key: String) -> (any Error)? {
    let now = held.withLock { $0 }
    if now.hasReplacedUnfit { coder.unfitFields.areReplaced = true }
    do {
      if let unfit = now.unfit {
        coder.unfitFields.areKept = true
        // As it was stored: a version whose type does not fit must not replace it by its mere start.
        try coder.encoder.copy(ValueContent.key, from: unfit.open(), as: key)
      } else {
        try coder.encoder.attempt { try coder.encode(now.value, forKey: key) }
        held.withLock { $0.last = now.value }
      }
      return nil
    } catch {
      // The last value may hold an object that has changed since.
      try? coder.encoder.attempt { try coder.encode(now.last, forKey: key) }
      return error
    }
  }

  func restore(from coder: StateDecoder, forKey key: String) {
    let now = held.withLock(\.value)
    guard let (value, unfit) = coder.decodeField(forKey: key, standIn: now) else { return }
    hold(Held(value: value ?? now, isWhole: unfit == nil, unfit: unfit, last: value))
  }
}

/// The object that observation sees in place of a value.
final class ValueSignal: Observable, Sendable {
  var value: Never? { nil }
  static let path: any KeyPath<ValueSignal, Never?> & Sendable = \.value
}

extension Decodable {
  /// Whether readers could not tell another value from this one.
  ///
  /// False where nobody can tell, as for an object, which may have been changed since it was set.
  fileprivate func isEqual(to other: Self) -> Bool {
    guard !(type(of: self) is any AnyObject.Type) else { return false }
    func equals<Value: Equatable>(_ value: Value) -> Bool { value == other as? Value }
    return (self as? any Equatable).map { equals($0) } ?? false
  }
}
