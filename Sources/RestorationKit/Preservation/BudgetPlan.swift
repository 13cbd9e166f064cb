/// What of a state that is too large is left out; see ``SizeBudget``.
struct BudgetPlan {
  /// A node or object that is left out with all below it, or keeps what is stored.
  struct Top {
    let place: Int
    /// With all below it.
    let byteCount: Int
    var keepsLast = false
  }

  let tree: RowTree
  /// By the places in the tree.
  let byteCounts: [Int]
  /// The most important last.
  private(set) var tops: [Top] = []
  /// What becomes of the tops and what is below them.
  private(set) var fates: [Int: PreservationWalk.Fate] = [:]

  private let hard: Int
  private let rows: Rows
  /// How large the state is with what is not left out.
  private var byteCount: Int
  /// The nodes that were left out in turn, each with the bytes that were still in then.
  private var turns: [(place: Int, byteCount: Int)] = []
  /// The turn in which a place was left out; nil if it is in.
  private var outSince: [Int?]

  /// - Complexity: O(*n* log *n*) in the rows.
  init(
    _ rows: Rows, _ hard: Int, _ priorities: [RowNumber: RestorationPriority],
    lastByteCounts: [RowNumber: Int]
  ) {
    (self.rows, self.hard) = (rows, hard)
    tree = RowTree(rows)
    byteCounts = tree.rows.map { Int(rows[$0].byteCount) }
    byteCount = byteCounts.reduce(rows.applicationByteCount, +)
    outSince = Array(repeating: nil, count: byteCounts.count)
    leaveOut(candidates(priorities))
    takeBackWhatHasRoom()
    keepLast(lastByteCounts)
  }

  /// The nodes, and the objects in no scope, in the order in which they go.
  private func candidates(_ priorities: [RowNumber: RestorationPriority]) -> [Int] {
    var own = Array(repeating: 0, count: byteCounts.count)
    var owners = Array(repeating: 0, count: byteCounts.count)
    var most = Array(repeating: RestorationPriority.normal, count: byteCounts.count)
    var keepers: [Int] = []
    for (place, number) in tree.rows.enumerated() {
      let parent = tree.parents[place]
      let isOwner = parent < 0 || rows[number].kind == .node && rows[number].type != nil
      owners[place] = isOwner ? place : owners[parent]
      own[owners[place]] += byteCounts[place]
      // Nothing else has what is kept.
      if rows.outcome(of: number) == .keptAsStored || rows.besides.contains(number) {
        keepers.append(owners[place])
      }
      guard isOwner else { continue }
      most[place] = priorities[number] ?? (parent < 0 ? .normal : most[owners[parent]])
    }
    for place in keepers { most[place] = .required }
    // What is above one that is more important stays with it.
    for place in most.indices.reversed() where owners[place] == place {
      let parent = tree.parents[place]
      guard parent >= 0 else { continue }
      most[owners[parent]] = max(most[owners[parent]], most[place])
    }
    return owners.indices.filter { owners[$0] == $0 && most[$0] < .required }
      .sorted { (most[$0], own[$1], $1) < (most[$1], own[$0], $0) }
  }

  private mutating func leaveOut(_ candidates: [Int]) {
    for place in candidates where outSince[place] == nil {
      guard byteCount > hard else { break }
      var bytes = 0
      // What went before is passed over, so each is counted once.
      forEachPlace(below: place, outSince: nil) {
        $0.outSince[$1] = $0.turns.count
        bytes += $0.byteCounts[$1]
      }
      byteCount -= bytes
      turns.append((place, bytes))
    }
  }

  /// Calls with a place and what is below it as far as it is in, or went in the same turn.
  private mutating func forEachPlace(
    below place: Int, outSince turn: Int?, _ body: (inout BudgetPlan, Int) -> Void
  ) {
    var next = place
    while next < tree.ends[place] {
      if outSince[next] == turn {
        body(&self, next)
        next += 1
      } else {
        next = tree.ends[next]
      }
    }
  }

  /// Whether the one above is in the state.
  private func isTop(_ place: Int) -> Bool {
    tree.parents[place] < 0 || outSince[tree.parents[place]] == nil
  }

  /// The last first, since they are the most important, and a node before those below it that
  /// went by themselves.
  private mutating func takeBackWhatHasRoom() {
    for (number, turn) in turns.enumerated().reversed()
    where isTop(turn.place) && byteCount + turn.byteCount <= hard {
      byteCount += turn.byteCount
      forEachPlace(below: turn.place, outSince: number) { $0.outSince[$1] = nil }
    }
    let sums = tree.sums(of: byteCounts)
    tops = turns.filter { outSince[$0.place] != nil && isTop($0.place) }
      .map { Top(place: $0.place, byteCount: sums[$0.place]) }
  }

  private mutating func keepLast(_ lastByteCounts: [RowNumber: Int]) {
    for index in tops.indices.reversed() {
      let range = tops[index].place..<tree.ends[tops[index].place]
      var bytes = 0
      var kept: [Int] = []
      var next = range.lowerBound
      while next < range.upperBound {
        if let last = lastByteCounts[tree.rows[next]] {
          bytes += last
          kept.append(next)
          next += 1
        } else {
          next = tree.ends[next]
        }
      }
      let keepsLast = !kept.isEmpty && kept[0] == range.lowerBound && byteCount + bytes <= hard
      for place in range { fates[place] = .leftOut }
      guard keepsLast else { continue }
      byteCount += bytes
      tops[index].keepsLast = true
      for place in kept { fates[place] = .lastState }
    }
  }
}
