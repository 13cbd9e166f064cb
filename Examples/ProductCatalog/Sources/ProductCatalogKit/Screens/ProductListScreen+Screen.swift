import CatalogModel
extension ProductListScreen: @MainActor Screen {
  package var title: String { "Catalog" }

  package var note: Note? {
    let count = products.count
    return Note(text: query.isEmpty ? "\(count) programs" : "\(count) of \(catalog.count)")
  }

  package var keyHints: [KeyHint] {
    let moving = KeyHint("↑↓", "Move")
    let showingAll = KeyHint("Esc", "Show all")
    guard !isSearching else { return [moving, KeyHint("Enter", "Keep"), showingAll] }
    return [moving, KeyHint("Enter", "Open"), KeyHint("/", "Search")]
      + (query.isEmpty ? [] : [showingAll]) + [KeyHint("q", "Quit")]
  }

  package func handle(_ key: Key, size: Size) -> ScreenResponse {
    if let row = destination(of: key, size: size) {
      move(to: row, size: size)
      return .stay
    }
    return isSearching ? handleWhileSearching(key) : handleWhileBrowsing(key)
  }

  private func handleWhileBrowsing(_ key: Key) -> ScreenResponse {
    switch key {
    case .enter, .right: return detail.map { .push($0) } ?? .stay
    case .text("/"): search(for: query, isTyping: true)
    case .escape: search(for: "", isTyping: false)
    case .text("q"): return .quit
    default: break
    }
    return .stay
  }

  private func handleWhileSearching(_ key: Key) -> ScreenResponse {
    switch key {
    case .text(let text): search(for: query + text, isTyping: true)
    case .backspace: search(for: String(query.dropLast()), isTyping: true)
    case .enter: search(for: query, isTyping: false)
    case .escape: search(for: "", isTyping: false)
    default: break
    }
    return .stay
  }

  private var detail: DetailScreen? {
    let products = products
    return selectedRow(in: products).map {
      DetailScreen(catalog: catalog, productID: products[$0].id)
    }
  }

  private func destination(of key: Key, size: Size) -> Int? {
    let products = products
    guard let row = selectedRow(in: products) else { return nil }
    return switch key {
    case .up: row - 1
    case .down: row + 1
    case .pageUp: row - window(over: products, size: size).rows
    case .pageDown: row + window(over: products, size: size).rows
    case .home: 0
    case .end: products.count - 1
    default: nil
    }
  }

  private func move(to row: Int, size: Size) {
    let products = products
    let window = window(over: products, size: size)
    let reached = window.clampedRow(row)
    select(products[reached].id)
    scroll(to: window.offset(nearest: scrollOffset, showing: reached))
  }
}
