#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The rows whose records have values with a sensitivity, as far as saves must know the values.
struct SensitiveRows {
  /// The values by row; nil stands for the application.
  var uses: [RowNumber?: RowSensitivity] = [:]
  /// The values of rows that went in this save.
  private var goneAges: [ValueAges.Values] = []
  /// The row that used each subkey last; some rows may use theirs no more.
  var subkeyUsers: [UInt64: RowNumber?] = [:]
  /// The ``SecretKeys/lossCount`` that was seen last.
  private var lossCount = 0
  /// The rows that a save asks because a value has ended.
  private(set) var due: [RowNumber] = []

  /// Lets the next save ask the rows whose records refer to subkeys that are forgotten.
  ///
  /// An attempt that has failed may have forgotten subkeys, too.
  mutating func noteForgotten(_ secrets: SecretKeys) {
    let lossCount = secrets.lossCount
    guard lossCount != self.lossCount else { return }
    self.lossCount = lossCount
    for (number, use) in uses where use.subkeys.contains(where: { secrets[$0] == nil }) {
      uses[number]?.end = .distantPast
    }
  }

  /// Finds the rows that are asked because a value of theirs has ended; if the clock was set back,
  /// all rows that have a value with an end.
  mutating func findDue(at clock: Date, isSetBack: Bool, isAskable: (RowNumber) -> Bool) {
    due = []
    for case (let number?, let use) in uses where isAskable(number) {
      if let end = use.end, end <= clock || isSetBack { due.append(number) }
    }
  }

  /// The values of rows that went in the last save, whose ages nobody needs.
  mutating func takeGoneAges() -> [ValueAges.Values] {
    defer { goneAges = [] }
    return goneAges
  }

  /// The values of the rows that stay.
  func uses(without gone: Rows.Gone) -> [RowNumber?: RowSensitivity] {
    guard !uses.isEmpty, !gone.isEmpty else { return uses }
    let gone = Set(gone.all)
    return uses.filter { $0.key.map { !gone.contains($0) } ?? true }
  }

  mutating func forget(_ number: RowNumber) {
    guard !uses.isEmpty, let ages = uses.removeValue(forKey: number)?.ages else { return }
    goneAges.append(ages)
  }
}
