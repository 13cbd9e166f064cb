/// The windows of the program, in their order; keys go to the one with the focus.
@MainActor package final class Windows {
  /// As many as there is room for on a usual terminal.
  package static let limit = 4

  package private(set) var all: [Window] = []
  package private(set) var focused: Window?

  package init() {}

  /// A program with one window that nobody keeps.
  package convenience init(_ navigation: NavigationStack) {
    self.init()
    let window = Window(navigation)
    insert(window)
    focus(on: window)
  }

  /// The place of a new window, behind all others.
  package var nextPlace: Int { (all.last?.place ?? -1) + 1 }

  package func insert(_ window: Window) {
    let index = all.firstIndex { $0.place > window.place } ?? all.endIndex
    all.insert(window, at: index)
  }

  /// Takes a window away; the focus goes to the one before it, or else the first.
  package func remove(_ window: Window) {
    guard let index = all.firstIndex(where: { $0 === window }) else { return }
    all.remove(at: index)
    if focused === window { focused = all.isEmpty ? nil : all[max(0, index - 1)] }
  }

  package func focus(on window: Window) {
    if all.contains(where: { $0 === window }) { focused = window }
  }

  /// The window after the one with the focus, and after the last the first.
  package var next: Window? {
    guard let index = all.firstIndex(where: { $0 === focused }) else { return all.first }
    return all[(index + 1) % all.count]
  }
}
