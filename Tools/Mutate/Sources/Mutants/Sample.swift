extension [Mutant] {
  /// Puts the mutants in an order that only the seed and the mutants decide.
  ///
  /// Each mutant has a rank of its own, so a change to the sources leaves the order of all others
  /// as it is, and a sample from the beginning stays nearly the same.
  ///
  /// - Parameter seed: Any number.
  /// - Returns: The same mutants, shuffled.
  /// - Complexity: O(*n* log *n*).
  package func shuffled(seed: UInt64) -> [Mutant] {
    var seen: [String: Int] = [:]
    let ranked = map { mutant in
      let text = "\(mutant.file)\n\(mutant.before)\n\(mutant.after)"
      let copy = seen[text, default: 0]
      seen[text] = copy + 1
      return (rank: hash("\(seed)\n\(copy)\n\(text)"), mutant: mutant)
    }
    return ranked.sorted { $0.rank < $1.rank }.map(\.mutant)
  }

  /// FNV-1a, whose last bits say little, and then the last step of SplitMix64.
  private func hash(_ text: String) -> UInt64 {
    var hash = text.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    return hash ^ (hash >> 31)
  }
}
