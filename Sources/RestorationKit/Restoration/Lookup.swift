/// Where the object of a stored element is looked for.
package enum Lookup: Hashable, Sendable {
  /// Nowhere: the element goes or stays with the element above, which is not back.
  case belowMissing
  /// Nowhere: restoring the element crashed.
  case leftOut
  /// Nowhere: the element lay on a node that is not back.
  case onCutStack
  /// Nowhere yet: a view is found when its node has loaded it.
  case inLoadedNode
  /// The node that came late is the object.
  case late
  /// Among the tabs that are there; nobody makes one.
  case amongTabs
  /// Among the objects that are registered.
  case registered
  /// The restoration class is asked, and nobody else; see ``ObjectLookup``.
  case restorationClass
  /// In the steps that follow that of the restoration class.
  case laterSteps

  /// Decides by the arguments and nothing else, before any hook is asked.
  ///
  /// - Parameters:
  ///   - kind: The kind of the element.
  ///   - isBelowMissing: Whether there is an element above this one that is not back.
  ///   - isLeftOut: Whether this launch leaves the element out, since restoring it crashed.
  ///   - isLate: Whether the node of the element came after the restore, and is there.
  ///   - isOnCutStack: Whether the element lay in a stack on a node that is not back.
  ///   - isTab: Whether the element is one of the tabs of the node above.
  ///   - namesClass: Whether the record of the element names a restoration class.
  package init(
    _ kind: ElementKind, isBelowMissing: Bool, isLeftOut: Bool, isLate: Bool, isOnCutStack: Bool,
    isTab: Bool, namesClass: Bool
  ) {
    if isBelowMissing {
      self = .belowMissing
    } else if isLeftOut {
      self = .leftOut
    } else if isLate {
      self = .late
    } else {
      switch kind {
      case .object: self = namesClass ? .restorationClass : .registered
      case .view, .application, .scene: self = .inLoadedNode
      case .node where isOnCutStack: self = .onCutStack
      case .node where isTab: self = .amongTabs
      case .node: self = namesClass ? .restorationClass : .laterSteps
      }
    }
  }
}
