/// All states that were written to one place of a ``FaultyDisk``, and which of them may be
/// found there.
///
/// A state that was said to be stored may give way to a later one only. One of which that
/// was never said may be there or not, until a power cut has decided it.
package final class SurvivalLog<State> {
  /// Where it is on the disk.
  package let name: String
  /// What was written, each with its number; at first there is what is given.
  package private(set) var states: [State]
  /// Those that may be found.
  package private(set) var allowed: Set<Int> = [0]
  /// Whether it may be that nothing can be read, since a sync has lied.
  package private(set) var mayBeUnreadable = false
  /// Whether it may be damaged, and what was found was an older one in its place.
  private var mayBeDamaged = false
  /// Whether the power was cut and nothing was read or written since.
  private var isCut = false

  package init(_ name: String, first: State) {
    self.name = name
    states = [first]
  }

  /// Something is written now, and may be there from now on.
  ///
  /// - Returns: Its number.
  package func attempt(_ state: State) -> Int {
    states.append(state)
    isCut = false
    allowed.insert(states.count - 1)
    return states.count - 1
  }

  /// What was written before is to be there again, and may be from now on.
  package func attempt(again number: Int) {
    isCut = false
    allowed.insert(number)
  }

  /// It was said to be stored.
  ///
  /// What a sync has lied about may be lost, and what was there before it come back.
  package func acknowledge(_ number: Int, on disk: FaultyDisk) {
    if !disk.owes(name) { (allowed, mayBeUnreadable, mayBeDamaged) = ([number], false, false) }
  }

  /// The power is about to be cut.
  package func cut(_ disk: FaultyDisk) {
    mayBeUnreadable = mayBeUnreadable || disk.owes(name)
    isCut = true
  }

  /// It was found; after a power cut it is there for good.
  ///
  /// - Returns: Whether it may be.
  package func find(_ numbers: Set<Int>) -> Bool {
    // What a lie of the disk has damaged gives way to an older state.
    let found = mayBeUnreadable ? numbers : numbers.intersection(allowed)
    mayBeDamaged = mayBeDamaged || mayBeUnreadable
    if isCut { (allowed, isCut, mayBeUnreadable) = (found, false, false) }
    return !found.isEmpty
  }

  /// The older ones may have been removed, and what is damaged not.
  package func loseOlder() {
    mayBeUnreadable = mayBeUnreadable || mayBeDamaged
  }

  /// What is there cannot be read, and the next write puts it out of the way.
  ///
  /// - Returns: Whether that may be.
  package func findUnreadable() -> Bool {
    allowed.insert(0)
    isCut = false
    return mayBeUnreadable
  }
}
