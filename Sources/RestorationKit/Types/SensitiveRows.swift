#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The rows whose records have values with a sensitivity, and what saves must know of these.
struct SensitiveRows {
  /// Nil is the application.
  var uses: [RowNumber?: RowSensitivity] = [:]
  /// The values of rows that went in this save.
  var goneAges: [ValueAges.Values] = []
  /// The rows that use subkeys; some may do so no more.
  var subkeyUsers: [UInt64: RowNumber?] = [:]
  /// The one of ``SecretKeys/lossCount`` that was seen last.
  private var lossCount = 0
  /// The rows that a save asks because a value has ended.
  private(set) var due: [RowNumber] = []

  /// Lets the next save ask those whose records refer to subkeys that are forgotten.
  ///
  /// They may be forgotten by what has failed, too.
  mutating func noteForgotten(_ secrets: SecretKeys) {
    let lossCount = secrets.lossCount
    guard lossCount != self.lossCount else { return }
    self.lossCount = lossCount
    for (number, use) in uses where use.subkeys.contains(where: { secrets[$0] == nil }) {
      uses[number]?.end = .distantPast
    }
  }

  /// Finds the rows that are asked because a value of theirs has ended; all that have one if the
  /// clock was set back.
  mutating func findDue(at clock: Date, isSetBack: Bool, isAskable: (RowNumber) -> Bool) {
    due = []
    for case (let number?, let use) in uses where isAskable(number) {
      if let end = use.end, end <= clock || isSetBack { due.append(number) }
    }
  }

  mutating func forget(_ number: RowNumber) {
    guard !uses.isEmpty, let ages = uses.removeValue(forKey: number)?.ages else { return }
    goneAges.append(ages)
  }
}
