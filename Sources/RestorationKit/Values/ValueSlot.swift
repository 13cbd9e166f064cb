/// Finds the box of one declared value.
final class ValueSlot<Value: Codable & Sendable>: Sendable {
  let key: String?
  private let declaration: String
  /// The window's values, if the value was declared within a scope.
  private let scope: ValueScope?
  /// The box of a field, or of a value that nothing stores.
  let ownBox: ValueBox<Value>

  init(_ initial: Value, _ key: String?, _ declaration: String, isOfApp: Bool = false) {
    (self.key, self.declaration, ownBox) = (key, declaration, ValueBox(initial))
    scope = isOfApp ? nil : ValueScope.current
  }

  func value(in owner: AnyObject?) -> Value { found(in: owner).box.value }

  func set(_ value: Value, in owner: AnyObject?) {
    let place = found(in: owner)
    if place.box.set(value) { noteChange(of: owner, in: place.scope) }
  }

  func withLock<Result, Failure: Error>(
    in owner: AnyObject?, _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let place = found(in: owner)
    let (result, isChange) = try place.box.change(body)
    if isChange { noteChange(of: owner, in: place.scope) }
    return result
  }

  func remove() {
    if let key, let scope = found(in: nil).scope { scope.table.remove(scope.name(key)) }
  }

  private func noteChange(of owner: AnyObject?, in scope: ValueScope?) {
    if let scope, let key {
      scope.table.noteChange(scope.name(key))
    } else if let screen = owner as? any RestorableScreen {
      KnownObjects.shared.invalidate(screen)
      ValueScope.ofApp.table.noteSet(screen, key ?? declaration)
    } else {
      (self.scope ?? .ofApp).table.noteUnstored()
    }
  }

  private func found(in owner: AnyObject?) -> (box: ValueBox<Value>, scope: ValueScope?) {
    if let owner, owner is any RestorableScreen { return (ownBox, nil) }
    let scope = scope ?? .ofApp
    guard let key else {
      scope.table.note(.valueWithoutKey(declaredAt: declaration))
      return (ownBox, nil)
    }
    if self.scope != nil, let other = ValueScope.current, other != scope {
      scope.table.note(.valueOfAnotherScene(key: key))
    }
    // If the key has a value of another type, this one has a box of its own, which is not stored.
    return scope.table.box(scope.name(key), ownBox.initial).map { ($0, scope) } ?? (ownBox, nil)
  }
}
