import CatalogModel
import Foundation
import RestorationKit

extension TabContent {
  static let activityType = "org.restorationkit.web-catalog.browsing"

  /// What the user is doing, for another device.
  ///
  /// Scroll offsets and the width of the panes stay: the other screen has another size.
  var activity: UserActivity {
    let activity = UserActivity(activityType: Self.activityType)
    activity.userInfo = ["search": .string(list.search), "tab": .string(detail.tab.rawValue)]
    activity.userInfo["product"] = window.product.map { .uuid($0) }
    if let editor, let product = editor.product {
      activity.addUserInfoEntries(from: [
        "edited": .uuid(product),
        "original": .array([.string(editor.original.title), .string(editor.original.description)]),
        "words": .array([.string(editor.words.title), .string(editor.words.description)]),
      ])
    }
    if let focus = window.focus {
      activity.userInfo["focus"] = .array([
        .string(focus.field.rawValue), .integer(focus.start), .integer(focus.end),
      ])
    }
    return activity
  }

  /// Takes what was done at another device; what it does not say stays.
  mutating func take(_ activity: UserActivity) {
    let info = activity.userInfo
    if let search = info["search"]?.stringValue { list.search = search }
    if let tab = info["tab"]?.stringValue.flatMap(DetailTab.init) { detail.tab = tab }
    window.product = info["product"]?.uuidValue
    editor = info["edited"]?.uuidValue.map { product in
      ProductEditor.State(
        product: product, original: ProductEdit(info["original"]),
        words: ProductEdit(info["words"]))
    }
    window.focus = info["focus"]?.arrayValue.flatMap(Focus.init)
  }
}

extension Focus {
  fileprivate init?(_ values: [PropertyListValue]) {
    guard values.count == 3, let field = values[0].stringValue.flatMap(Field.init),
      let start = values[1].integerValue, let end = values[2].integerValue
    else { return nil }
    self.init(field: field, start: start, end: end)
  }
}

extension ProductEdit {
  fileprivate init(_ value: PropertyListValue?) {
    let lines = value?.arrayValue?.compactMap(\.stringValue) ?? []
    self.init(title: lines.first ?? "", description: lines.dropFirst().first ?? "")
  }
}
