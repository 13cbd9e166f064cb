extension ValueWriter {
  /// A place to which the writer can go back when later values are abandoned.
  struct Mark {
    let byteCount: Int
    let symbolCount: Int
    let depth: Int
  }

  var mark: Mark {
    Mark(
      byteCount: output.count, symbolCount: symbols.count, depth: depth)
  }

  /// Removes all bytes since the mark, and the names that came with them, unless another writer may use
  /// them.
  func goBack(to mark: Mark, keepingNames keepsNames: Bool = false) {
    output.truncate(to: mark.byteCount)
    if !keepsNames { symbols.truncate(to: mark.symbolCount) }
    depth = mark.depth
  }
}
