internal import Synchronization

/// Finds the box of one declared value.
///
/// The slot remembers the box, so that a read looks up no key again.
final class ValueSlot<Value: Codable & Sendable>: Sendable {
  private struct Place {
    /// The store that the box is in; nil for a field of a screen, and for a value that
    /// is stored nowhere.
    var store: ValueStore?
    let box: ValueBox<Value>
    var isField = false
    /// Whether a save stores the value.
    var isStored = true
  }

  let key: String?
  private let initial: Value
  private let declaration: String
  /// The scene's values, if the value was declared within a scope.
  private let scope: ValueStore?
  private let isOfApp: Bool
  private let place = Mutex<Place?>(nil)

  init(
    _ initial: Value, _ key: String?, _ declaration: String, isOfApp: Bool = false
  ) {
    (self.key, self.initial, self.declaration) = (key, initial, declaration)
    self.isOfApp = isOfApp
    scope = isOfApp ? nil : ValueStore.scope
  }

  func value(in owner: AnyObject?) -> Value { found(in: owner).box.value }

  func set(_ value: Value, in owner: AnyObject?) {
    let place = found(in: owner)
    note(place.box.set(value), at: place, of: owner)
  }

  func withLock<Result, Failure: Error>(
    in owner: AnyObject?, _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let place = found(in: owner)
    let (result, change) = try place.box.change(body)
    note(change, at: place, of: owner)
    return result
  }

  private func note(
    _ change: ValueBox<Value>.Change, at place: Place, of owner: AnyObject?
  ) {
    guard change.isChange else { return }
    if place.isField {
      if let record = place.box.record {
        TrackedObjects.invalidate(record)
      } else if let owner {
        TrackedObjects.invalidate(owner)
      }
      if let screen = owner as? any StateRestoring {
        ValueStore.ofApp.noteSet(screen, key ?? declaration, place.box)
      }
    } else if let key, let store = place.store, place.isStored {
      store.noteChange(key, undecoded: change.undecoded)
    } else {
      (scope ?? ValueStore.ofApp).noteUnstored()
    }
  }

  func remove() {
    if let key { found(in: nil).store?.remove(key) }
  }

  /// The box of the value as the field of a screen.
  var fieldBox: ValueBox<Value> {
    place.withLock { place in
      if let place, place.isField { return place.box }
      let box = ValueBox(initial)
      place = Place(box: box, isField: true)
      return box
    }
  }

  private func found(in owner: AnyObject?) -> Place {
    let known = place.withLock { $0 }
    if let known, known.isField { return known }
    if known == nil, let object = Value.self.objectType {
      (scope ?? ValueStore.ofApp).note(
        .valueIsObject(key: key ?? declaration, className: "\(object)"))
    }
    if known == nil, let owner, owner is any RestorableScreen {
      ScreenFields.noteUse(of: type(of: owner))
      return Place(box: fieldBox, isField: true)
    }
    let store = scope ?? ValueStore.ofApp
    if let known, known.store === store || key == nil {
      if scope != nil, let other = ValueStore.scope, other !== scope, let key {
        store.note(.valueOfAnotherScene(key: key))
      }
      return known
    }
    guard let key else {
      store.note(.valueWithoutKey(declaredAt: declaration))
      return remember(Place(box: ValueBox(initial), isStored: false))
    }
    let box = store.box(key, initial)
    // If the key has a value of another type, this one has a box of its own, which is not stored.
    return remember(Place(store: store, box: box ?? ValueBox(initial), isStored: box != nil))
  }

  private func remember(_ new: Place) -> Place {
    place.withLock { place in
      if let known = place, known.isField || known.store === new.store { return known }
      place = new
      return new
    }
  }
}

extension Decodable {
  /// The class of a value that is an object, or that holds objects; nil for any other type.
  fileprivate static var objectType: Any.Type? {
    if self is any AnyObject.Type { return self }
    return (self as? any Holding.Type)?.heldType
  }
}

/// A type whose values hold values of another type.
private protocol Holding {
  static var heldType: Any.Type? { get }
}

extension Optional: Holding where Wrapped: Decodable {
  static var heldType: Any.Type? { Wrapped.objectType }
}

extension Array: Holding where Element: Decodable {
  static var heldType: Any.Type? { Element.objectType }
}
