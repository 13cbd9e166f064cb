extension ValueWriter {
  /// A place to come back to when what follows is abandoned.
  struct Mark {
    let byteCount: Int
    let symbolCount: Int
    let symbolsUsed: Int
    let depth: Int
  }

  var mark: Mark {
    Mark(
      byteCount: output.count, symbolCount: symbols.count, symbolsUsed: symbolsUsed,
      depth: depth)
  }

  /// Takes back all that was written since the mark, and the names that came
  /// with it, except the first `keptSymbolCount`, which others use.
  func goBack(to mark: Mark, keptSymbolCount: Int = 0) {
    output.truncate(to: mark.byteCount)
    symbols.truncate(to: max(mark.symbolCount, keptSymbolCount))
    symbolsUsed = mark.symbolsUsed
    depth = mark.depth
  }
}
