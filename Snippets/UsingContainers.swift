// Screens that contain screens: tabs with a stack of pages in each, and a search on top.

import RestorationKit

// snippet.page
@MainActor
final class PageScreen: @MainActor RestorableScreen {
  @Restored var number = 1
}

// snippet.end

// snippet.stack
/// Shows the last of its pages, which may all have one identifier.
@MainActor
final class PageStack: @MainActor RestorableScreen, @MainActor RestorableStack {
  let restorationIdentifier: String
  var restorationChildren: [any RestorableNode] = [PageScreen()] {
    didSet { invalidateRestorableState() }
  }

  init(_ identifier: String) { restorationIdentifier = identifier }

  // All pages that are back, the lowest one first.
  func restoreStack(_ pages: [any RestorableNode]) { restorationChildren = pages }
}

// snippet.end

// snippet.tabs
/// Has its tabs from the beginning, and shows one.
@MainActor
final class TabScreen: @MainActor RestorableScreen, @MainActor RestorableTabs {
  let tabs = [PageStack("first"), PageStack("second")]
  lazy var selectedTab: (any RestorableNode)? = tabs[0] {
    didSet { invalidateRestorableState() }
  }
  var search: SearchScreen? { didSet { invalidateRestorableState() } }

  var restorationChildren: [any RestorableNode] { tabs }
  var restorationPresented: (any RestorableNode)? { search }

  func restorePresented(_ node: any RestorableNode) { search = node as? SearchScreen }
}

// snippet.end

// snippet.search
@MainActor
final class SearchScreen: @MainActor RestorableScreen {
  @Restored var word = ""
}

// snippet.end

// snippet.begin
let window = TabScreen()
try await Restoration.begin("org.example.pages") {
  [window]
} prepare: { keeper in
  // The tabs are there at launch. Pages and the search are not.
  try keeper.register(PageScreen.self) { path, coder in PageScreen() }
  try keeper.register(SearchScreen.self) { path, coder in SearchScreen() }
}
// snippet.end

print("Tab:", window.selectedTab?.restorationName ?? "none")
print("Pages in it:", (window.selectedTab as? PageStack)?.restorationChildren.count ?? 0)
print("Search:", window.search?.word ?? "none")

// The user goes to the second tab, opens a page, and searches.
window.selectedTab = window.tabs[1]
let page = PageScreen()
page.number = window.tabs[1].restorationChildren.count + 1
window.tabs[1].restorationChildren.append(page)
let search = SearchScreen()
search.word = "Ada"
window.search = search
