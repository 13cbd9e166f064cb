/// A value of a scene that comes back with it.
///
///     final class NoteModel: SceneMember {
///       let scene: Scene
///       @SceneStorage("draft") var draft = ""
///     }
///
/// All storages of one key in one scene are the same value, and other scenes
/// have their own. Without a stored value, or with one of another type, it is
/// the one that the declaration gives; the latter is in the report of the next
/// save. Reading is tracked by Observation, each key on its own and not for equal
/// values; setting marks the scene as to be saved. A value that nobody reads in a launch stays stored.
///
/// Keep values small, and keep secrets elsewhere. Values that are shared by all
/// scenes of an app are no concern of this library.
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
      return member.scene.values.value(Value.self, forKey: storage.key) ?? storage.initial
    }
    set { member.scene.values.set(newValue, forKey: member[keyPath: storage].key) }
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
  var scene: Scene { get }
}
