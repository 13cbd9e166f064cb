/// How large a state may be.
///
/// The budget counts the records of all elements and the application's values, in bytes
/// before they are sealed, as ``StateSizes`` does. The file is larger: it also has
/// names of keys, tags and changes.
///
/// Over the soft size a save notes which parts are large. Over the hard size it leaves
/// nodes out, each with all below it, until the rest has room:
///
/// - The node of the lowest ``RestorableNode/restorationPriority`` goes first. A node above
///   one of a higher priority goes as late as that one. Among nodes of one priority the
///   node with the most bytes of its own goes first; its views and the objects in its scope
///   count as its own. Registered objects in no scope count as nodes of normal priority.
/// - Then the nodes that went are tried again, the most important first. A node that has
///   room after all comes back, or else keeps its stored state, if that has room.
/// - Never left out are nodes that are ``RestorationPriority/required``, kept nodes (for
///   which there is ``StatePolicy/keptBound``), the nodes above one of these, and the
///   application's values. If these are too large, the state is stored all the same.
///
/// The report names each node that is left out, with its bytes. The node comes back into
/// the state with the save in which it has room. Such a save asks the nodes twice.
public struct SizeBudget: Hashable, Codable, Sendable {
  /// Over so many bytes a save says which parts are large; nil says nothing.
  public var soft: Int?

  /// Over so many bytes a save leaves nodes out; nil for no bound.
  public var hard: Int?

  /// Creates a budget.
  public init(soft: Int? = nil, hard: Int? = nil) {
    (self.soft, self.hard) = (soft, hard)
  }
}
