/// How the saves of a state find out that an object has changed.
///
/// Every save stores the same state, whichever case a type chooses. The case decides
/// how many objects a save asks.
public enum StateTracking: Hashable, Sendable {
  /// Every save asks the object for its state, its nodes and its views, and writes its
  /// record if the answer has changed. An ``Autosave`` asks every 2 seconds, too.
  case always

  /// Saves ask the object only when it is new, and after
  /// ``StateRestoring/invalidateRestorableState()``.
  ///
  /// The object calls that method after each change of a value that it encodes, and of
  /// everything that the library stores of it: its identifier, the nodes that it
  /// contains or presents, its views and their subviews, its selected tab, its
  /// `restorationParent`. A change that the object does not announce is not stored
  /// until a save asks the object for another reason.
  case invalidated

  /// Saves ask the object, which is `@Observable`, when it is new, and after a change of a
  /// property that it read when it was asked last.
  ///
  /// Observation tells of a change before the new value is there. So let these properties change
  /// on the actor of the keeper, and not in a hook of the object that has read them already.
  ///
  /// Observing takes some microseconds each time that the object is asked, so use this
  /// for a few objects.
  case observed
}
