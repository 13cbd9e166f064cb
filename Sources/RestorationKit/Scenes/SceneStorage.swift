/// The values of an app, or of one of its windows.
struct ValueScope: Sendable, Equatable {
  let table: ValueTable
  /// The identifier of the window's session; empty for the app.
  var window = ""

  /// The values of the window whose part of the interface is made now; nil outside of scopes.
  @TaskLocal static var current: ValueScope?

  /// The values of the app, or of the running test.
  static var ofApp: ValueScope { ValueScope(table: RestorationSession.current.values) }

  static func == (left: ValueScope, right: ValueScope) -> Bool {
    left.table === right.table && left.window == right.window
  }

  func name(_ key: String) -> ValueName { ValueName(window: window, key: key) }
}

extension RestorableScene {
  var values: ValueScope {
    ValueScope(table: keeper.values, window: session.persistentIdentifier)
  }
}

/// A value of a scene that comes back with it.
///
///     final class NoteModel: SceneMember {
///       let scene: RestorableScene
///       @SceneStorage("draft") var draft = ""
///
///       init(_ scene: RestorableScene) { self.scene = scene }
///     }
///
/// All storages of one key in one scene are the same value, and other scenes
/// have their own. Without a stored value the value is that of the declaration. The
/// same holds for a stored value of another type; the report of the next save names
/// it. Observation tracks the reading of each key by itself, and setting an equal value
/// is no change. A value that was set is stored by the next save. A value that is not read in a
/// launch stays stored.
///
/// Each value is a record of its own, so a change of one writes no other. For values that all
/// scenes of an app share, use ``Restored``.
@propertyWrapper
public struct SceneStorage<Value: Codable & Sendable>: Sendable {
  private let key: String
  private let initial: Value

  /// Declares a value.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value as long as none is stored.
  ///   - key: Its name in the scene, stable across launches.
  public init(wrappedValue: Value, _ key: String) {
    self.key = key
    initial = wrappedValue
  }

  private func box(in values: ValueScope, replacing: Bool = false) -> ValueBox<Value>? {
    values.table.box(values.name(key), initial, replacing: replacing)
  }

  /// Not there: the value belongs to the scene of the object that has it.
  @available(*, unavailable, message: "use it in a class that conforms to SceneMember")
  public var wrappedValue: Value {
    get { initial }
    // The setter is there for the compiler alone.
    set { _ = newValue }
  }

  /// Reads and sets the value in the scene of the object that has it.
  public static subscript<Member: SceneMember>(
    _enclosingInstance member: Member, wrapped wrapped: ReferenceWritableKeyPath<Member, Value>,
    storage storage: ReferenceWritableKeyPath<Member, SceneStorage<Value>>
  ) -> Value {
    get {
      let storage = member[keyPath: storage]
      return storage.box(in: member.scene.values)?.storedValue ?? storage.initial
    }
    set {
      let storage = member[keyPath: storage]
      let values = member.scene.values
      // A value of another type takes the place of the one that is there.
      let box = storage.box(in: values, replacing: true)
      if box?.set(newValue) == true { values.table.noteChange(values.name(storage.key)) }
    }
  }
}

extension SceneStorage where Value: ExpressibleByNilLiteral {
  /// Declares a value that is nil as long as none is stored.
  ///
  /// - Parameter key: Its name in the scene, stable across launches.
  public init(_ key: String) {
    self.init(wrappedValue: nil, key)
  }
}

/// A class that belongs to one scene, and can have ``SceneStorage``.
public protocol SceneMember: AnyObject {
  /// The scene that it belongs to.
  var scene: RestorableScene { get }
}

extension Restoration {
  /// Lets what a closure makes have values of a scene: a ``Restored`` that is declared in it
  /// has its key below the scene.
  ///
  ///     let view = Restoration.scope(scene) { EditorView() }
  ///
  /// A value that is made once, as a static one, belongs to the scene below which it is first
  /// used. Use a ``RestoredValue`` for what belongs to the app.
  ///
  /// - Parameters:
  ///   - scene: The scene; nil for the app.
  ///   - body: Makes a part of the interface.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  public static func scope<Made, Failure: Error>(
    _ scene: RestorableScene?, _ body: () throws(Failure) -> Made
  ) throws(Failure) -> Made {
    // The error keeps its type only as a value.
    let made = ValueScope.$current.withValue(scene?.values) {
      Result { () throws(Failure) in try body() }
    }
    return try made.get()
  }
}
