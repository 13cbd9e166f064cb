import Foundation
import TestSupport
import XCTest

/// One scene on several pages, in which words of products are edited.
final class EditingTests: XCTestCase {
  private var site: Site?

  /// A test case lives until the process ends; the folder of a site goes with it.
  override func tearDown() {
    site = nil
  }

  /// Two pages of one scene, its address, and two products.
  private func pages() throws -> (
    desk: Visitor, phone: Visitor, tab: String, products: [String]
  ) {
    let site = try Site()
    self.site = site
    let desk = Visitor(try site.serve())
    let tab = try desk.signIn("Ann")
    let phone = Visitor(desk.server, cookies: desk.cookies)
    return (desk, phone, tab, Array(try desk.products(in: tab).prefix(2)))
  }

  private func title(of product: String, in tab: String, _ visitor: Visitor) throws -> String {
    _ = try visitor.get("\(tab)?product=\(product)")
    let page = try visitor.get(tab).text
    return String(try XCTUnwrap(page.firstMatch(of: /<h1>(.*?)<\/h1>/), page).1)
  }

  private let words = ["title": "Words for X", "description": "x"]

  func testSaveAndLeaveOnAPageThatShowsAnotherEditorChangeNothing() throws {
    let (desk, phone, tab, products) = try pages()
    let (x, y) = (products[0], products[1])
    let before = try title(of: y, in: tab, desk)
    try desk.edit(x, in: tab)
    let token = try desk.token(of: tab)
    try phone.edit(y, in: tab)
    for action in ["save", "leave"] {
      for product in [x, "", UUID().uuidString] {
        let fields = words.merging(["do": action, "product": product]) { $1 }
        let answer = try desk.post("\(tab)/edit", fields, token: token)
        XCTAssertEqual(answer.status, 409, "\(action) \(product)")
        XCTAssertTrue(answer.text.contains("Copy what you typed"), answer.text)
      }
    }
    let page = try desk.get(tab).text
    XCTAssertEqual(Visitor.editedProduct(in: page), y)
    XCTAssertFalse(page.contains("Words for X"))
    XCTAssertEqual(try title(of: y, in: tab, desk), before)
  }

  func testWordsOfAnEditorThatIsNotThereAreRefusedAndTheRestOfTheTabIsNot() throws {
    let (desk, phone, tab, products) = try pages()
    try desk.edit(products[0], in: tab)
    let token = try desk.token(of: tab)
    try phone.post("\(tab)/edit", ["do": "leave"], tokenOf: tab)
    func tell(_ number: Int, _ change: [String: Any]) throws -> Int {
      let words: [String: Any] = ["page": "desk", "number": number, "product": products[0]]
      return try desk.tell(words.merging(change) { $1 }, in: tab, token: token).status
    }
    XCTAssertEqual(try tell(1, ["title": "Words for X", "search": "a"]), 409)
    XCTAssertEqual(try tell(2, ["search": "b"]), 200)
    try phone.edit(products[1], in: tab)
    XCTAssertEqual(try tell(3, ["description": "Words for X"]), 409)
    let page = try desk.get(tab).text
    XCTAssertTrue(page.contains(#"type="search" value="b""#), page)
    XCTAssertFalse(page.contains("Words for X"))
  }

  func testWordsThatNobodyHasSavedKeepTheirEditor() throws {
    let (desk, _, tab, products) = try pages()
    try desk.edit(products[0], in: tab)
    try desk.tell(["page": "desk", "number": 1, "title": "Words for X"], in: tab)
    _ = try desk.get("\(tab)?product=\(products[1])")
    XCTAssertFalse(try desk.get(tab).text.contains(#"value="begin""#))
    let answer = try desk.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    XCTAssertEqual(answer.status, 409)
    XCTAssertTrue(answer.text.contains("Save or leave them first."), answer.text)
    XCTAssertTrue(try desk.get(tab).text.contains(#"value="Words for X""#))
    // Those that are as they were when the edit began are nobody's.
    try desk.post("\(tab)/edit", ["do": "leave"], tokenOf: tab)
    try desk.edit(products[0], in: tab)
    try desk.edit(products[1], in: tab)
    XCTAssertEqual(Visitor.editedProduct(in: try desk.get(tab).text), products[1])
  }

  func testWhatIsAcknowledgedWhileAnotherPageSavesIsSavedOrStillEdited() throws {
    let (desk, phone, tab, products) = try pages()
    // Each of them has one thread at a time.
    nonisolated(unsafe) let (typing, saving) = (phone, desk)
    for round in 0..<12 {
      try desk.edit(products[0], in: tab)
      let token = try desk.token(of: tab)
      let typed = (1...6).map { "typed \(round).\($0)" }
      let acknowledged = Acknowledged()
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        if number == 0 {
          for (place, text) in typed.enumerated() {
            let change: [String: Any] = [
              "page": "phone \(round)", "number": place + 1, "product": products[0],
              "description": text,
            ]
            let answer = try? typing.tell(change, in: tab, token: token)
            if answer?.status == 200 { acknowledged.last = text }
          }
        } else {
          let fields = ["do": "save", "title": "T \(round)", "product": products[0]]
          let answer = try? saving.post("\(tab)/edit", fields, token: token)
          XCTAssertEqual(answer?.status, 303)
        }
      }
      let page = try desk.get(tab).text
      if let last = acknowledged.last {
        XCTAssertTrue(page.contains(last), "\(last) is not in \(page)")
      }
      if Visitor.editedProduct(in: page) != nil {
        try desk.post("\(tab)/edit", ["do": "leave"], tokenOf: tab)
      }
    }
  }

  func testASearchOfSeveralWordsWorksWithoutScripts() throws {
    let (desk, _, tab, _) = try pages()
    for (query, text) in [("blue+tea", "blue tea"), ("a%2Bb", "a+b"), ("caf%C3%A9", "café")] {
      XCTAssertEqual(try desk.get("\(tab)?search=\(query)").status, 303)
      let page = try desk.get(tab).text
      XCTAssertTrue(page.contains(#"type="search" value="\#(text)""#), page)
    }
  }
}

/// What was acknowledged last.
private final class Acknowledged: @unchecked Sendable {
  private let lock = NSLock()
  private var text: String?

  var last: String? {
    get { lock.withLock { text } }
    set { lock.withLock { text = newValue } }
  }
}
