extension ValueWriter {
  /// A place to which the writer can go back when later values are abandoned.
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

  /// Removes all bytes since the mark, and the names that came with them, except the
  /// first `keptSymbolCount`, which others use.
  func goBack(to mark: Mark, keptSymbolCount: Int = 0) {
    output.truncate(to: mark.byteCount)
    symbols.truncate(to: max(mark.symbolCount, keptSymbolCount))
    symbolsUsed = mark.symbolsUsed
    depth = mark.depth
  }
}
