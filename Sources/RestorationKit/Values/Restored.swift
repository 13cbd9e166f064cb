/// A value that comes back: of the app, of a scene, or of a screen.
///
///     @main @MainActor
///     struct Notes {
///       @Restored("draft") static var draft = ""
///
///       static func main() async throws {
///         try await Restoration.begin("org.example.notes")
///         draft += "One more line. "
///         await Restoration.end()
///       }
///     }
///
/// Any `Codable & Sendable` value can be restored.
/// ``Restoration/begin(_:version:signals:roots:prepare:)`` brings the value back. From then on
/// an app only sets it: the autosave stores each change.
///
/// | where it is declared | whose value it is |
/// |---|---|
/// | a class that conforms to ``RestorableScreen`` | that screen's; its key is the name of the property, unless one is given |
/// | what is made within ``Restoration/scope(_:_:)`` | that scene's, below its key |
/// | anywhere else | the app's, below its key |
///
/// All values of one key and one type are the same value. A value without a key outside
/// of a screen is stored nowhere, which is a problem.
///
/// The first read decodes the value. Fields that do not fit any more have the value of
/// the declaration, and so has a value that does not fit at all;
/// ``Restoration/problems`` says so, and the stored value stays until the app sets it.
/// If the app crashes twice in a row while it decodes a value, the next launch leaves
/// the value out. Setting an equal value changes nothing. Reading and setting are
/// possible on any thread, and observation sees both. `count += 1` reads and then sets,
/// so of two threads one may be lost; ``withLock(_:)`` is one step.
///
/// In an `@Observable` class write `@ObservationIgnored` before the property. Top-level
/// code cannot have property wrappers: use ``RestoredValue`` there.
@propertyWrapper
public struct Restored<Value: Codable & Sendable>: Sendable {
  let slot: ValueSlot<Value>

  /// Declares a value.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value as long as none is stored.
  ///   - key: The name of the value, stable across launches, of up to 1 KiB; in a
  ///     screen the name of the property if nil.
  ///   - fileID: The file of the declaration, for problems.
  ///   - line: The line of the declaration.
  public init(
    wrappedValue: Value, _ key: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    slot = ValueSlot(wrappedValue, key, "\(fileID):\(line)")
  }

  /// Declares a value that is nil as long as none is stored.
  ///
  /// - Parameters:
  ///   - key: The name of the value, stable across launches.
  ///   - fileID: The file of the declaration, for problems.
  ///   - line: The line of the declaration.
  public init(
    _ key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) where Value: ExpressibleByNilLiteral {
    slot = ValueSlot(nil, key, "\(fileID):\(line)")
  }

  /// The value.
  public var wrappedValue: Value {
    get { slot.value(in: nil) }
    nonmutating set { slot.set(newValue, in: nil) }
  }

  /// Changes the value in one step, so that no change of another thread is lost.
  ///
  ///     @Restored("count") var count = 0
  ///     func add() { _count.withLock { $0 += 1 } }
  ///
  /// For a field of a screen call ``RestorableScreen/withLock(_:_:)``.
  ///
  /// Other threads that set the value wait meanwhile, and readers have the old value. The body
  /// may read this value, and must set it by its argument alone: another set of it in the
  /// body ends the process. Observation sees a change also if the value is an equal one.
  ///
  /// - Parameter body: Changes the value. If it throws, the value stays as it is.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try slot.withLock(in: nil, body)
  }

  /// Reads and sets the value of an object, which may be a screen.
  public static subscript<Owner: AnyObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    get { owner[keyPath: storage].slot.value(in: owner) }
    set { owner[keyPath: storage].slot.set(newValue, in: owner) }
  }
}

extension RestorableScreen {
  /// Changes a field in one step, so that no change of another thread is lost.
  ///
  ///     @Restored var count = 0
  ///     func add() { withLock(\._count) { $0 += 1 } }
  ///
  /// As ``Restored/withLock(_:)``.
  ///
  /// - Parameters:
  ///   - field: The property wrapper, which has an underscore before its name.
  ///   - body: Changes the value. If it throws, the value stays as it is.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
  public func withLock<Value, Result, Failure: Error>(
    _ field: KeyPath<Self, Restored<Value>>, _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try self[keyPath: field].slot.withLock(in: self, body)
  }
}

/// A value that comes back, where no property wrapper is possible.
///
///     let zoom = RestoredValue("zoom", default: 100)
///     zoom.value += 10
///
/// Each ``Restored`` with the same key and type has the same value. The value belongs
/// to the app, also if it is made within ``Restoration/scope(_:_:)``.
public final class RestoredValue<Value: Codable & Sendable>: Sendable {
  private let slot: ValueSlot<Value>

  /// Declares a value.
  ///
  /// - Parameters:
  ///   - key: The name of the value, stable across launches, of up to 1 KiB.
  ///   - value: The value as long as none is stored.
  public init(_ key: String, default value: Value) {
    slot = ValueSlot(value, key, "RestoredValue(“\(key)”)", isOfApp: true)
  }

  /// The value, which observation sees.
  public var value: Value {
    get { slot.value(in: nil) }
    set { slot.set(newValue, in: nil) }
  }

  /// Changes the value in one step, so that no change of another thread is lost.
  ///
  ///     zoom.withLock { $0 += 10 }
  ///
  /// As ``Restored/withLock(_:)``.
  ///
  /// - Parameter body: Changes the value. If it throws, the value stays as it is.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try slot.withLock(in: nil, body)
  }

  /// Removes the stored value, so that the value is the default again.
  public func remove() { slot.remove() }
}
