package import RestorationFoundation

/// A kept element or a kept state, with the facts that a bound needs.
package struct KeptShare: Hashable, Sendable {
  /// The time from which the share counts as kept when there is not room for all.
  package var since: Date
  /// The rank among shares of one time: a greater rank goes later.
  package var rank: Int
  package var byteCount: Int
  /// The record that has the share.
  package var record: UInt64
  /// 0 for the state of the record itself; of the states beside it the newer
  /// ones have lower numbers.
  package var index: Int

  package init(since: Date, rank: Int, byteCount: Int, record: UInt64, index: Int) {
    self.since = since
    self.rank = rank
    self.byteCount = byteCount
    self.record = record
    self.index = index
  }

  /// Whether this share goes first: the oldest does, and among shares of one age the largest.
  fileprivate func goes(before other: KeptShare) -> Bool {
    (since, rank, other.byteCount, record, other.index)
      < (other.since, other.rank, byteCount, other.record, index)
  }
}

/// The choice of the kept elements that a bound drops, by values alone.
extension KeptBound {
  /// Whether the age is over the bound.
  package func hasExpired(_ since: Date, at now: Date) -> Bool {
    age.map { now.timeIntervalSince(since) > $0 } ?? false
  }

  /// The indices of the shares that have no room.
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
