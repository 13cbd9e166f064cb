/// A node, a view or an object whose state is one value.
///
/// Conform nodes to ``StatefulNode``.
///
///     @MainActor
///     final class Slider: @MainActor RestorableView, @MainActor StatefulRestoring {
///       let restorationIdentifier: String? = "volume"
///       var restorableState = 0.5
///     }
///
/// The value is stored under the key ``StateEncoder/stateKey``. If an earlier version
/// of the app has not stored a field, the field keeps the value that the object has; an
/// optional field becomes nil. So a field can be added without a migration. This does
/// not hold for fields of values in arrays and dictionaries. If a stored value does not
/// fit in another way, decoding throws, and the object keeps its value.
///
/// References, secrets and whatever else belongs to the state go through the hooks of
/// ``StateRestoring``. The value is stored before the one hook is called and set before the
/// other one, whatever the hooks do.
public protocol StatefulRestoring: StateRestoring {
  /// The state as one value.
  associatedtype State: Codable

  /// The value that brings the object back to where the user left it.
  ///
  /// A save reads it. A restore sets it if a value is stored. Every save encodes it to
  /// compare it with what is stored; in a tree of many nodes, let each say when it has
  /// changed instead:
  ///
  ///     static var stateTracking: StateTracking { .invalidated }
  ///     var restorableState = State() { didSet { invalidateRestorableState() } }
  var restorableState: State { get set }
}

/// A node whose state is one value.
///
///     @MainActor
///     final class NoteScreen: @MainActor StatefulNode {
///       struct State: Codable {
///         var note: UUID?
///         var draft = ""
///       }
///
///       let restorationIdentifier: String? = "note"
///       var restorableState = State()
///     }
///
/// See ``StatefulRestoring`` for what is stored and what comes back.
public protocol StatefulNode: RestorableNode, StatefulRestoring {}

extension StateEncoder {
  /// The key that a ``StatefulRestoring/restorableState`` is stored under.
  public static var stateKey: String { "restorableState" }

  /// Writes the state of an object that is one value.
  func encodeState<Object: StatefulRestoring>(of object: Object) throws {
    try encode(object.restorableState, forKey: Self.stateKey)
  }
}

extension StateDecoder {
  /// Takes back the state of an object that is one value; without a stored one it stays
  /// as it is.
  func decodeState<Object: StatefulRestoring>(of object: Object) throws {
    let present = object.restorableState
    if let state = try decodeIfPresent(forKey: StateEncoder.stateKey, standIn: present) {
      object.restorableState = state
    }
  }

  /// Reads the state of an object that is being made.
  ///
  ///     try keeper.register(FindScreen.self) { _, coder in
  ///       FindScreen(try coder.decodeState(of: FindScreen.self, defaults: .init()))
  ///     }
  ///
  /// - Parameters:
  ///   - type: The type of the object.
  ///   - defaults: Has the fields that an earlier version of the app has not stored; if nil,
  ///     a missing field throws.
  /// - Returns: The stored state.
  /// - Throws: What the value throws; `DecodingError` if the stored value does not fit;
  ///   ``/ArchiveCodec/ArchiveError`` with `keyNotFound` if none is stored.
  public func decodeState<Object: StatefulRestoring>(
    of type: Object.Type, defaults: Object.State? = nil
  ) throws -> Object.State {
    let key = StateEncoder.stateKey
    if let defaults, let state = try decodeIfPresent(forKey: key, standIn: defaults) {
      return state
    }
    return try decode(forKey: key)
  }
}
