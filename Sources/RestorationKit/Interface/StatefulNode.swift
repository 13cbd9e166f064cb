/// A node, a view or an object whose state is one value.
///
/// Conform nodes to ``StatefulNode``.
///
///     @MainActor
///     final class Slider: @MainActor RestorableView, @MainActor StatefulRestoring {
///       let restorationIdentifier = "volume"
///       var restorableState = 0.5
///     }
///
/// The value is stored under the key ``StateEncoder/stateKey``. If an earlier version
/// of the app has not stored a field, the field keeps the value that the object has, and
/// the report names it (``ReportNote/missingFields(_:)``); an optional field becomes nil.
/// So a field can be added without a migration.
///
/// If the stored value of a field does not fit any more, that field of `restorableState`
/// keeps the value that the object has, with all that is in it, and the others come back.
/// The report has a problem for it (``ReportNote/fieldReplaced(key:_:)``), and the next
/// save keeps the stored state beside the new one. A field that is missing in an element of an array or
/// a dictionary does not fit. If the value itself does not fit, as one that is no keyed
/// container, or if its `init(from:)` throws anything but a `DecodingError` with a path,
/// decoding throws, and the object keeps its value. Let a type whose fields make sense only
/// together say so with ``restoresStateInParts``.
///
/// Fields that are not among the `CodingKeys` of the state are not stored: each restore sets
/// the whole value, so they go back to their defaults.
///
/// References and whatever else belongs to the state go through the hooks of
/// ``StateRestoring``. The value is stored before the one hook is called and set before the
/// other one, whatever the hooks do.
public protocol StatefulRestoring: RestorationAbility {
  /// The state as one value.
  associatedtype State: Codable

  /// The value that brings the object back to where the user left it.
  ///
  /// A save reads the property. A restore sets it if a value is stored. Every save
  /// encodes the value to compare it with the stored one; in a tree of many nodes, let
  /// each say when its value has changed instead:
  ///
  ///     static var stateTracking: StateTracking { .invalidated }
  ///     var restorableState = State() { didSet { invalidateRestorableState() } }
  var restorableState: State { get set }

  /// Whether the fields that fit come back where others do not; true by default.
  ///
  /// With false a value comes back as it was stored or not at all: if a field is
  /// missing or does not fit, decoding throws, and the object keeps its value. False is
  /// for fields that make sense only together, as a list and an index into it:
  ///
  ///     static var restoresStateInParts: Bool { false }
  static var restoresStateInParts: Bool { get }
}

extension StatefulRestoring {
  /// Fields that fit come back.
  public static var restoresStateInParts: Bool { true }
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
///       let restorationIdentifier = "note"
///       var restorableState = State()
///     }
///
/// Without an identifier of its own the node has the name of its class, here “NoteScreen”.
///
/// A restore sets the whole value. A field that the value does not store, as one that
/// is not among its `CodingKeys`, goes back to its default: keep such a field beside
/// the value. See ``StatefulRestoring`` for the rules of storing and restoring.
public typealias StatefulNode = RestorableNode & StatefulRestoring

extension StatefulRestoring where Self: RestorableNode {
  /// The name of the class of the node, `String(describing: type(of: self))`.
  ///
  /// Declare an identifier where a parent has several nodes of one class, and where the class
  /// may get another name.
  public var restorationIdentifier: String { String(nameOf: type(of: self)) }
}

extension StateEncoder {
  /// The key that a ``StatefulRestoring/restorableState`` is stored under.
  public static var stateKey: String { "restorableState" }
}

extension StateDecoder {
  /// Sets the state of an object that is one value; without a stored one the object
  /// keeps its state.
  func decodeState<Object: StatefulRestoring>(of object: Object) throws {
    if let state = try decodeIfPresent(Object.self, standIn: object.restorableState) {
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
  ///   - defaults: Has the fields that an earlier version of the app has not stored,
  ///     and the fields whose stored values do not fit. If nil, or if the type says no
  ///     to ``StatefulRestoring/restoresStateInParts``, a field like that throws.
  /// - Returns: The stored state.
  /// - Throws: The errors of the value's `init(from:)`; `DecodingError` if the stored
  ///   value does not fit; ``/ArchiveCodec/ArchiveError`` with `keyNotFound` if none is
  ///   stored.
  public func decodeState<Object: StatefulRestoring>(
    of type: Object.Type, defaults: Object.State? = nil
  ) throws -> Object.State {
    if let defaults, let state = try decodeIfPresent(type, standIn: defaults) { return state }
    return try decode(forKey: StateEncoder.stateKey)
  }

  /// The state of an object; nil if none is stored.
  ///
  /// If the type allows that, fields of another state stand in for the fields that are
  /// missing or do not fit.
  private func decodeIfPresent<Object: StatefulRestoring>(
    _ type: Object.Type, standIn other: @autoclosure () -> Object.State
  ) throws -> Object.State? {
    let key = StateEncoder.stateKey
    return type.restoresStateInParts
      ? try decodeIfPresent(forKey: key, standIn: other()) : try decodeIfPresent(forKey: key)
  }
}
