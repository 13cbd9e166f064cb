/// What is known of nodes besides what they say themselves: the names of
/// types, the storyboards, and the identifiers that nodes were restored under.
final class NodeRegistry {
  /// Makes or finds the node of a path; nil is a veto.
  typealias Factory = (RestorationPath, StateDecoder) throws -> (any RestorableNode)?

  private struct Registration {
    let name: String
    let type: Any.Type
    let factory: Factory?
    /// Whether nodes of the type are made by the factory without saying so.
    let makesItsNodes: Bool
  }

  /// What a restored node keeps, if it says nothing else.
  struct Restored {
    let identifier: String
    let restorationClassName: String?
  }

  private var registrations: [String: Registration] = [:]
  private var names: [ObjectIdentifier: String] = [:]
  private var storyboards: [String: Storyboard] = [:]
  private var restored = WeakTable<Restored>()

  func register(
    _ type: Any.Type, as name: String?, aliases: [String], makesItsNodes: Bool,
    factory: Factory?
  ) throws(RestorationError) {
    let name = name ?? String(describing: type)
    for taken in [name] + aliases {
      if let other = registrations[taken], other.type != type {
        throw RestorationError(
          .nameTaken,
          "The name “\(taken)” is registered for another type."
            + " Register one of them with register(_:as:) under another name.")
      }
    }
    for entry in [name] + aliases {
      registrations[entry] = Registration(
        name: name, type: type, factory: factory, makesItsNodes: makesItsNodes)
    }
    names[ObjectIdentifier(type)] = name
  }

  func register(_ storyboard: Storyboard) throws(RestorationError) {
    if let other = storyboards[storyboard.name], other !== storyboard {
      throw RestorationError(
        .nameTaken, "The name “\(storyboard.name)” is registered for another storyboard.")
    }
    storyboards[storyboard.name] = storyboard
  }

  func storyboard(named name: String) -> Storyboard? {
    storyboards[name]
  }

  func remember(_ node: any RestorableNode, as value: Restored) {
    restored[node] = value
  }

  /// The identifier to save the node under; nil leaves it out.
  func identifier(of node: any RestorableNode) -> String? {
    guard let own = node.restorationIdentifier else { return restored[node]?.identifier }
    return own.isEmpty ? nil : own
  }

  func className(of node: any RestorableNode) -> String {
    name(of: type(of: node))
  }

  func storyboard(of node: any RestorableNode) -> StoryboardReference? {
    for (name, storyboard) in storyboards {
      if let identifier = storyboard.identifier(of: node) {
        return StoryboardReference(name: name, identifier: identifier)
      }
    }
    return nil
  }

  func restorationClass(of node: any RestorableNode) -> (name: String, isRegistered: Bool)? {
    if let type = node.restorationClass {
      let name = name(of: type)
      return (name, registrations[name]?.factory != nil)
    }
    if let registration = registrations[className(of: node)], registration.makesItsNodes {
      return (registration.name, true)
    }
    return restored[node]?.restorationClassName.map { ($0, registrations[$0] != nil) }
  }

  enum ResolvedClass {
    case found(Factory)
    case notAFactory
    case unknown
  }

  /// What an archive names as a restoration class.
  func restorationClass(named name: String) -> ResolvedClass {
    guard let registration = registrations[name] else { return .unknown }
    return registration.factory.map(ResolvedClass.found) ?? .notAFactory
  }

  /// Whether a node is of the class that an archive names, or of a subclass.
  func isNode(_ node: any RestorableNode, ofClassNamed saved: String) -> Bool {
    let current = registrations[saved]?.name ?? saved
    if className(of: node) == current { return true }
    var mirror = Mirror(reflecting: node).superclassMirror
    while let superclass = mirror {
      if name(of: superclass.subjectType) == current { return true }
      mirror = superclass.superclassMirror
    }
    return false
  }

  private func name(of type: Any.Type) -> String {
    if let name = names[ObjectIdentifier(type)] { return name }
    let name = String(describing: type)
    names[ObjectIdentifier(type)] = name
    return name
  }
}
