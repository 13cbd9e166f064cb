/// How the saves of a state find out that an object has changed.
///
/// Whatever a type says, a save stores what there is: how much it asks for that is
/// the difference.
public enum StateTracking: Hashable, Sendable {
  /// Every save asks the object for its state and for what it contains, and writes
  /// its record if that has changed.
  case always

  /// Saves ask the object only when it is new, and after
  /// ``StateRestoring/invalidateRestorableState()``.
  ///
  /// The object calls that whenever something has changed that it encodes or that the
  /// library stores of it: its identifier, the nodes that it contains or presents, its
  /// views and those in them, its selected tab, its `restorationParent`. What it
  /// forgets is not stored until a save asks everything; a strict keeper reports it.
  case invalidated

  /// The object is `@Observable`: saves ask it when it is new, and when something
  /// has changed that it read when it was asked last.
  ///
  /// To observe an object takes some microseconds each time that it is asked, so
  /// this is for a few.
  case observed
}
