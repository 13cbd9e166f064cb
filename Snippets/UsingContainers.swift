// A stack of screens and a row of tabs: containers that need no coder.

import RestorationKit

@MainActor
final class PageScreen: @MainActor RestorableNode {
  let restorationIdentifier = "page"
  var number: Int

  init(_ number: Int) { self.number = number }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(number, forKey: "number")
  }
}

/// Shows the last of its pages; they may all have one identifier.
@MainActor
final class PageStack: @MainActor RestorableStack {
  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = [PageScreen(1)]

  init(_ identifier: String) { restorationIdentifier = identifier }

  // All of the stack that is back, bottom first.
  func restoreStack(_ nodes: [any RestorableNode]) { restorationChildren = nodes }
}

/// Has all its tabs at once and shows one; which one comes back by itself.
@MainActor
final class TabScreen: @MainActor RestorableTabs {
  let restorationIdentifier = "tabs"
  let tabs = [PageStack("first"), PageStack("second")]
  lazy var selectedTab: (any RestorableNode)? = tabs[0]

  var restorationChildren: [any RestorableNode] { tabs }
}

let screen = TabScreen()
let keeper = try StateKeeper(application: "org.example.pages")
// The tabs are there already; pages are made.
try keeper.register(PageScreen.self) { _, coder in
  PageScreen(try coder.decode(forKey: "number"))
}

print(try await keeper.restore(into: [screen]))
print("Tab:", screen.selectedTab?.restorationName ?? "none")
print("Pages in it:", (screen.selectedTab as? PageStack)?.restorationChildren.count ?? 0)

// The user goes to the second tab and opens a page.
screen.selectedTab = screen.tabs[1]
let pages = screen.tabs[1]
pages.restorationChildren.append(PageScreen(pages.restorationChildren.count + 1))
print(try await keeper.save([screen]))
