/// Decides from values alone which elements of a state that is too large are left out; see
/// ``SizeBudget``.
package struct BudgetPlan {
  /// An element of the state as the plan counts it.
  package struct Share: Hashable, Sendable {
    /// The place of the element above; nil for a root.
    package var parent: Int?
    /// The size of its own record.
    package var byteCount: Int
    /// Whether the element can be left out by itself, and not only with the one above it: it is
    /// a node, or a root.
    package var isAlone: Bool
    /// Nil if the element has none; then the priority of the element above counts.
    package var priority: RestorationPriority?
    /// Whether the element keeps something that nobody else has, so that the element stays.
    package var isKept: Bool
    /// The size of the record that would keep the stored state of the element; nil if nothing is
    /// stored.
    package var lastByteCount: Int?

    package init(
      parent: Int?, byteCount: Int, isAlone: Bool = true, priority: RestorationPriority? = nil,
      isKept: Bool = false, lastByteCount: Int? = nil
    ) {
      self.parent = parent
      self.byteCount = byteCount
      self.isAlone = isAlone || parent == nil
      self.priority = priority
      self.isKept = isKept
      self.lastByteCount = lastByteCount
    }
  }

  /// The fate of an element for which there is no room.
  package enum Fate: Hashable, Sendable {
    case leftOut
    /// The stored state of the element stays.
    case lastState
  }

  /// An element that is left out with all below it, or keeps its stored state.
  package struct Top: Hashable, Sendable {
    package let place: Int
    /// The size of the element with all below it.
    package let byteCount: Int
    package fileprivate(set) var keepsLast: Bool

    package init(place: Int, byteCount: Int, keepsLast: Bool = false) {
      (self.place, self.byteCount, self.keepsLast) = (place, byteCount, keepsLast)
    }
  }

  /// The elements that have no room, the most important last.
  package private(set) var tops: [Top] = []
  /// The fates of the tops and of the elements below them, by their places.
  package private(set) var fates: [Int: Fate] = [:]

  private let shares: [Share]
  private let hard: Int
  /// The place behind the last element below each one.
  private let ends: [Int]
  /// The size of the state with all that is not left out.
  private var byteCount: Int
  /// The elements that were left out in turn, each with the bytes that were still in then.
  private var turns: [(place: Int, byteCount: Int)] = []
  /// The turn in which an element was left out; nil if it is in.
  private var outSince: [Int?]

  /// Decides which elements are left out.
  ///
  /// - Parameters:
  ///   - shares: All elements, each followed by the elements below it.
  ///   - applicationByteCount: The size of the application's values, which always stay.
  ///   - hard: How large the state may be.
  /// - Complexity: O(*n* log *n*) in the elements.
  package init(_ shares: [Share], applicationByteCount: Int, hard: Int) {
    (self.shares, self.hard) = (shares, hard)
    byteCount = shares.reduce(applicationByteCount) { $0 + $1.byteCount }
    outSince = Array(repeating: nil, count: shares.count)
    ends = Self.ends(of: shares)
    leaveOut(candidates())
    takeBackWhatHasRoom()
    keepLast()
  }

  private static func ends(of shares: [Share]) -> [Int] {
    var ends = shares.indices.map { $0 + 1 }
    for place in shares.indices.reversed() {
      if let parent = shares[place].parent { ends[parent] = max(ends[parent], ends[place]) }
    }
    return ends
  }

  /// The elements that can be left out, in the order in which they go.
  private func candidates() -> [Int] {
    var own = Array(repeating: 0, count: shares.count)
    var owners = Array(shares.indices)
    var most = Array(repeating: RestorationPriority.normal, count: shares.count)
    for (place, share) in shares.enumerated() {
      let above = share.parent.map { owners[$0] }
      if !share.isAlone, let above { owners[place] = above }
      own[owners[place]] += share.byteCount
      if share.isAlone { most[place] = share.priority ?? above.map { most[$0] } ?? .normal }
    }
    for (place, share) in shares.enumerated() where share.isKept { most[owners[place]] = .required }
    // The elements above one that is more important stay with it.
    for place in shares.indices.reversed() where owners[place] == place {
      guard let parent = shares[place].parent else { continue }
      most[owners[parent]] = max(most[owners[parent]], most[place])
    }
    return owners.indices.filter { owners[$0] == $0 && most[$0] < .required }
      .sorted { (most[$0], own[$1], $1) < (most[$1], own[$0], $0) }
  }

  private mutating func leaveOut(_ candidates: [Int]) {
    for place in candidates where outSince[place] == nil {
      guard byteCount > hard else { break }
      var bytes = 0
      // The elements that went before are passed over, so each is counted once.
      forEachPlace(below: place, outSince: nil) {
        $0.outSince[$1] = $0.turns.count
        bytes += $0.shares[$1].byteCount
      }
      byteCount -= bytes
      turns.append((place, bytes))
    }
  }

  /// Calls with an element and those below it, as far as they are in or went in the same turn.
  private mutating func forEachPlace(
    below place: Int, outSince turn: Int?, _ body: (inout BudgetPlan, Int) -> Void
  ) {
    var next = place
    while next < ends[place] {
      if outSince[next] == turn {
        body(&self, next)
        next += 1
      } else {
        next = ends[next]
      }
    }
  }

  /// Whether the element above is in the state.
  private func isTop(_ place: Int) -> Bool {
    shares[place].parent.map { outSince[$0] == nil } ?? true
  }

  /// Takes back elements that have room after all.
  ///
  /// The element that went last is tried first, since it is the most important, and a node before
  /// those below it that went by themselves.
  private mutating func takeBackWhatHasRoom() {
    for (number, turn) in turns.enumerated().reversed()
    where isTop(turn.place) && byteCount + turn.byteCount <= hard {
      byteCount += turn.byteCount
      forEachPlace(below: turn.place, outSince: number) { $0.outSince[$1] = nil }
    }
    var before = [0]
    for share in shares { before.append(before[before.count - 1] + share.byteCount) }
    tops = turns.filter { outSince[$0.place] != nil && isTop($0.place) }
      .map { Top(place: $0.place, byteCount: before[ends[$0.place]] - before[$0.place]) }
  }

  /// Lets the elements that have no room keep their stored state, as far as that state has room.
  private mutating func keepLast() {
    for index in tops.indices.reversed() {
      let range = tops[index].place..<ends[tops[index].place]
      var bytes = 0
      var kept: [Int] = []
      var next = range.lowerBound
      while next < range.upperBound {
        if let last = shares[next].lastByteCount {
          bytes += last
          kept.append(next)
          next += 1
        } else {
          next = ends[next]
        }
      }
      for place in range { fates[place] = .leftOut }
      guard kept.first == range.lowerBound, byteCount + bytes <= hard else { continue }
      byteCount += bytes
      tops[index].keepsLast = true
      for place in kept { fates[place] = .lastState }
    }
  }
}
