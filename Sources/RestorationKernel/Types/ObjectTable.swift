/// The facts about the objects of one state that the objects do not say themselves: what each was
/// restored by, and what it was registered as.
final class ObjectTable {
  let types: TypeTable
  /// The names under which nodes were restored, which saves use where a node names none itself.
  private var restoredNames = WeakTable<(identifier: String, restorationClass: String?)>()
  private var registeredNames = WeakTable<String>()
  /// The objects of a name in the order in which they were registered.
  private var registered: [String: [Registered]] = [:]
  /// Whether an object may be saved under names that it was restored under.
  private(set) var hasRestoredNames = false
  /// Counts the registered objects.
  private(set) var changeCount = 0

  init(_ types: TypeTable) { self.types = types }

  // MARK: Nodes

  /// The identifier to save the node under; nil leaves it out.
  func identifier(of node: any RestorableNode) -> String? {
    let own = node.restorationName
    // A node that was restored under another identifier keeps it: under the name of its class it
    // could be the second node of that name.
    if hasRestoredNames, own == nil || types.info(of: node).isNamedByClass,
      let restored = restoredNames[node]
    {
      return restored.identifier
    }
    return own?.isEmpty == true ? nil : own
  }

  /// Remembers the names under which an object was restored, unless the object says them itself.
  func remember(
    _ object: any StateRestoring, _ info: TypeInfo, _ node: (any RestorableNode)?,
    identifier: String, restorationClass: String?
  ) {
    let own = node?.restorationName
    let saysItsName = node == nil || (info.isNamedByClass ? own == identifier : own != nil)
    let saysAll =
      saysItsName
      && (restorationClass == nil
        || self.restorationClass(
          of: object, info, naming: node?.restorationClass) != nil)
    if saysAll, restoredNames[object] == nil { return }
    restoredNames[object] = saysAll ? nil : (identifier, restorationClass)
    hasRestoredNames = true
  }

  /// The restoration class to save, if the object names one, is made by a
  /// registered closure, or was restored by one.
  func restorationClass(
    of object: any StateRestoring, _ info: TypeInfo, naming type: Any.Type?
  ) -> (name: String, isRegistered: Bool)? {
    if let type {
      // Most nodes are made by their own class.
      if type == info.type { return (info.name, info.registration?.factory != nil) }
      let name = types.name(of: type)
      return (name, types.registration(named: name)?.factory != nil)
    }
    if let own = info.registration, own.isNamedBySaves { return (own.name, true) }
    return restoredNames[object]?.restorationClass.map {
      ($0, types.registration(named: $0) != nil)
    }
  }

  // MARK: Registered objects

  /// Registers an object; it keeps the last identifier that it was given.
  func register(_ object: any RestorableObject, identifier: String) {
    guard !identifier.isEmpty, identifier.utf8.count <= Element.longestName else { return }
    let old = registeredNames[object]
    guard old != identifier else { return }
    changeCount += 1
    if let old { registered[old]?.removeAll { $0.object === object } }
    registeredNames[object] = identifier
    if let same = registered[identifier], same.count == same.capacity {
      // Those that are gone are dropped when the array would grow.
      registered[identifier] = same.filter { $0.object != nil }
    }
    registered[identifier, default: []].append(Registered(object: object))
  }

  /// The identifier that the object was registered under; nil if it was not.
  func identifier(ofRegistered object: any StateRestoring) -> String? {
    registeredNames[object]
  }

  func registeredObjects(named identifier: String) -> [any RestorableObject] {
    registered[identifier]?.compactMap(\.object) ?? []
  }

  private struct Registered {
    weak var object: (any RestorableObject)?
  }

  // MARK: References

  /// Whether a reference to an object that is no view can be stored.
  func canBeReferred(_ object: any StateRestoring) -> Bool {
    let node = object as? any RestorableNode
    return (node.map { identifier(of: $0) } ?? identifier(ofRegistered: object)) != nil
  }
}
