#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Something that a save keeps, as the bound of what is kept counts it.
package struct KeptShare: Hashable, Sendable {
  /// Since when it counts as kept, where more is kept than may be.
  package var since: Date
  /// Of shares of one time those with a greater rank go later.
  package var rank: Int
  package var byteCount: Int
  /// The record that has it.
  package var record: UInt64
  /// 0 for the state that the record itself has; the newer ones beside it have lower numbers.
  package var index: Int

  package init(since: Date, rank: Int, byteCount: Int, record: UInt64, index: Int) {
    self.since = since
    self.rank = rank
    self.byteCount = byteCount
    self.record = record
    self.index = index
  }

  /// The oldest goes first, and of one age the largest.
  fileprivate func goes(before other: KeptShare) -> Bool {
    (since, rank, other.byteCount, record, other.index)
      < (other.since, other.rank, byteCount, other.record, index)
  }
}

/// What a bound drops, decided by values alone.
extension KeptBound {
  /// Whether something was kept for long enough.
  package func hasExpired(_ since: Date, at now: Date) -> Bool {
    age.map { now.timeIntervalSince(since) > $0 } ?? false
  }

  /// Which shares have no room, by their places.
  ///
  /// - Complexity: O(*n* log *n*) in the shares, if they have no room together.
  package func crowdedOut(of shares: [KeptShare]) -> [Int] {
    guard let most = byteCount else { return [] }
    var left = shares.reduce(0) { $0 + $1.byteCount }
    guard left > most else { return [] }
    let order = shares.indices.sorted { shares[$0].goes(before: shares[$1]) }
    return Array(
      order.prefix { place in
        defer { left -= shares[place].byteCount }
        return left > most
      })
  }
}
