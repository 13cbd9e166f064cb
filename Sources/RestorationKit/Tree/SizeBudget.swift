/// How large a state may be.
///
/// What counts are the records of all elements and what the application writes, in
/// bytes before they are sealed, as ``StateSizes`` says them. The file is larger: names
/// of keys, tags and changes come to that.
///
/// Over the soft size a save notes which parts are large. Over the hard size it leaves
/// nodes out, each with all below it, until the rest has room:
///
/// - Those of the lowest ``RestorableNode/restorationPriority`` go first; a node above
///   one of a higher priority goes as late as that. Among equal ones the
///   one goes first that has the most bytes of its own, with its views and the objects
///   in its scope. Registered objects in no scope are as nodes of normal priority.
/// - Of those that went, the most important first, each comes back that has room after
///   all, or else keeps the state that is stored of it, if that has room.
/// - What is ``RestorationPriority/required`` is never left out, nor what a
///   ``StateKeeper/keptBound`` is for, nor what lies above one of these, nor what the
///   application writes. A state of which these are too large is stored all the same.
///
/// The report names each that is left out, with its bytes. It comes back into the state
/// with the save in which it has room. Such a save asks the nodes twice.
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
