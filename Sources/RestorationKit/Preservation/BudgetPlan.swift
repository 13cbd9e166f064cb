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
  private var isOut: [Bool]

  /// - Complexity: O(*n* log *n*) in the rows.
  init(
    _ rows: Rows, _ hard: Int, _ priorities: [RowNumber: RestorationPriority],
    lastByteCounts: [RowNumber: Int]
  ) {
    (self.rows, self.hard) = (rows, hard)
    tree = RowTree(rows)
    byteCounts = tree.rows.map { Int(rows[$0].byteCount) }
    byteCount = byteCounts.reduce(rows.applicationByteCount, +)
    isOut = Array(repeating: false, count: byteCounts.count)
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
      if rows.outcome(of: number) == .keptAsStored { keepers.append(owners[place]) }
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
    for place in candidates where !isOut[place] {
      guard byteCount > hard else { break }
      var bytes = 0
      var next = place
      while next < tree.ends[place] {
        // What went before is passed over, so each is counted once.
        if isOut[next] {
          next = tree.ends[next]
        } else {
          isOut[next] = true
          bytes += byteCounts[next]
          next += 1
        }
      }
      byteCount -= bytes
      tops.append(Top(place: place, byteCount: 0))
    }
  }

  /// Whether the one above is in the state.
  private func isTop(_ place: Int) -> Bool {
    tree.parents[place] < 0 || !isOut[tree.parents[place]]
  }

  private mutating func takeBackWhatHasRoom() {
    let sums = tree.sums(of: byteCounts)
    tops = tops.filter { isTop($0.place) }.map { Top(place: $0.place, byteCount: sums[$0.place]) }
    for top in tops.reversed() where byteCount + top.byteCount <= hard {
      byteCount += top.byteCount
      for place in top.place..<tree.ends[top.place] { isOut[place] = false }
    }
    tops.removeAll { !isOut[$0.place] }
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
