/// One of the program's windows: a navigation stack and its place among the others.
@MainActor package final class Window {
  package let navigation: NavigationStack
  /// Windows stand in the order of their places, left to right or top to bottom.
  package var place: Int

  package init(_ navigation: NavigationStack, place: Int = 0) {
    self.navigation = navigation
    self.place = place
  }
}
