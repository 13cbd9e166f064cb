import Foundation
import TestSupport
import XCTest

/// A person at a browser, who does not notice that a server is killed.
final class FailoverTests: XCTestCase {
  func testTheUserGoesOnAtTheOtherServerWithTheSameTextCursorAndScrollPosition() throws {
    let site = try Site(usesDatabase: true)
    var servers = [try site.serve(), try site.serve()]
    let proxy = try Proxy(to: servers, in: site.directory)
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: proxy.port)

    try browser.scroll("list", to: 1400)
    try browser.click("#list li:nth-child(30) a")
    try browser.wait(until: "document.querySelector('#detail h1')")
    try browser.click("button[value=begin]")
    try browser.wait(until: "document.getElementById('description')")
    try browser.type(" Ask Ada about it. ", into: "#description")
    try browser.press(Key.home)
    try browser.press(Key.right, Key.right, Key.right)
    try browser.type("o", into: "#search")
    try browser.wait(until: "document.querySelector('#list .count').textContent !== '158 products'")
    try browser.scroll("list", to: 320)
    try browser.run(
      """
      const text = document.getElementById('description'), at = text.value.indexOf('Ada')
      text.focus(); text.setSelectionRange(at, at + 3)
      """
    )
    try browser.waitUntilSaved()
    let (before, picture) = (try browser.place(), try browser.picture())
    XCTAssertTrue(before.contains("Ask Ada about it."), before)
    XCTAssertTrue(before.contains(#""list":320"#), before)

    // Whichever of them has the tab: the user reloads after each.
    for number in 0..<2 {
      try servers[number].kill()
      try browser.reload()
      try browser.wait(until: "document.getElementById('status')")
      XCTAssertEqual(try browser.place(), before)
      try keep(try browser.picture(), "after", equal: picture)
      if number == 0 { servers[0] = try site.serve(port: servers[0].port) }
    }
    // That a connection was cut is what this test does.
    let complaints = try browser.complaints().filter { !$0.contains("Failed to load resource") }
    XCTAssertEqual(complaints, [])
  }

  func testWhatIsTypedWhileNoServerIsThereIsStoredWhenOneIs() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try server.kill()
    try browser.type("tea", into: "#search")
    try browser.wait(until: "document.getElementById('status').dataset.state === 'failed'")
    XCTAssertTrue(
      try browser.text("document.getElementById('status').textContent").hasPrefix("Not stored yet:")
    )
    let again = try site.serve(port: server.port)
    try browser.waitUntilSaved()
    try browser.reload()
    XCTAssertEqual(try browser.text("document.getElementById('search').value"), "tea")
    withExtendedLifetime(again) {}
  }

  func testALinkIsFollowedWhenWhatWasTypedIsStored() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try server.kill()
    try browser.type("o", into: "#search")
    try browser.wait(until: "document.getElementById('status').dataset.state === 'failed'")
    try browser.click("#list li:nth-child(3) a")
    try browser.wait(until: "document.getElementById('status').dataset.state === 'failed'")
    XCTAssertEqual(try browser.text("document.getElementById('search').value"), "o")
    let again = try site.serve(port: server.port)
    try browser.waitUntilSaved()
    try browser.click("#list li:nth-child(3) a")
    try browser.wait(until: "document.querySelector('#detail h1')")
    XCTAssertEqual(try browser.text("document.getElementById('search').value"), "o")
    withExtendedLifetime(again) {}
  }

  func testWhatNoServerTakesIsStoredWithoutIt() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try browser.run(
      #"""
      const search = document.getElementById('search');
      search.value = 'a\u0000b\u000b\ud800c';
      search.dispatchEvent(new Event('input', { bubbles: true }));
      """#)
    try browser.waitUntilSaved()
    XCTAssertEqual(try browser.text("document.getElementById('search').value"), "a b \u{FFFD}c")
    try browser.reload()
    XCTAssertEqual(try browser.text("document.getElementById('search').value"), "a b \u{FFFD}c")
  }

  func testAPageWhoseTabIsClosedSaysSo() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let other = Visitor(server)
    other.cookies["session"] = try browser.cookie("session")
    let tab = try browser.text("location.pathname")
    try other.post("\(tab)/close", tokenOf: tab)
    try browser.type("tea", into: "#search")
    try browser.wait(until: "document.getElementById('status').dataset.state === 'failed'")
    XCTAssertEqual(
      try browser.text("document.getElementById('status').textContent"),
      "Not stored: There is nothing here, or it is not yours.")
  }

  func testAPageWhoseTabIsClosedListensLessAndLessOften() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let tab = try browser.text("location.pathname")
    // The clock of this page goes as fast as its server answers.
    try browser.run(
      """
      const later = setTimeout;
      window.pauses = [];
      window.setTimeout = (action, pause) => { pauses.push(pause); return later(action, 0); };
      """)
    let other = Visitor(server, cookies: ["session": try browser.cookie("session")])
    try other.post("\(tab)/close", tokenOf: tab)
    try browser.wait(until: "pauses.length >= 8")
    XCTAssertEqual(
      try browser.text("pauses.slice(0, 8)"), "1000,2000,4000,8000,16000,32000,60000,60000")
  }

  func testAChangeOnOneDeviceIsShownOnTheOther() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let desk = try Chromium(in: site.directory)
    try desk.signIn("Ann", at: server.port)
    let phone = Visitor(server)
    let cookie = try desk.cookie("session")
    phone.cookies["session"] = cookie
    let tab = try desk.text("location.pathname")
    XCTAssertEqual(
      try phone.tell(["page": "phone", "number": 1, "search": "chess"], in: tab).status, 200)
    try desk.wait(until: "document.getElementById('search').value === 'chess'")
  }

  func testSavedWordsAreShownInTheListsOfOthers() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let eve = Visitor(server)
    try eve.save("A new <title>", in: eve.signIn("Eve"))
    try browser.wait(
      until: "document.querySelector('#list li b').textContent === 'A new <title>'")
  }

  func testAPageIsReadWithoutScripts() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory, scripts: false)
    try browser.signIn("Ann", at: server.port)
    try browser.type("chess", into: "#search")
    try browser.press(Key.enter)
    try browser.wait(until: "document.querySelectorAll('#list li').length < 20")
    try browser.click("#list li a")
    try browser.wait(until: "document.querySelector('#detail h1')")
    try browser.click("#detail .tabs a:nth-child(2)")
    try browser.wait(until: "document.querySelector('dt')")
    XCTAssertEqual(try browser.text("document.getElementById('search').value"), "chess")
  }

  func testALinkOpensOnAnotherDevice() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let (desk, phone) = (
      try Chromium(in: site.directory), try Chromium(in: site.directory, width: 480, height: 800)
    )
    try desk.signIn("Ann", at: server.port)
    try desk.type("chess", into: "#search")
    try desk.waitUntilSaved()
    try desk.click("form[action$=link] button")
    try desk.wait(until: "document.getElementById('link')")
    try phone.open(desk.text("document.getElementById('link').value"))
    try phone.type("Ann", into: "[name=name]")
    try phone.click("form button")
    try phone.wait(until: "document.querySelector('form[action=\"/continue\"] button')")
    try phone.click("form[action=\"/continue\"] button")
    try phone.wait(until: "document.getElementById('search')")
    XCTAssertEqual(try phone.text("document.getElementById('search').value"), "chess")
    XCTAssertEqual(try phone.complaints(), [])
  }
}

/// Compares two pictures; keeps them if they differ, or if the environment names a folder for them.
private func keep(
  _ picture: Data, _ name: String, equal before: Data, line: UInt = #line
) throws {
  let named = ProcessInfo.processInfo.environment["CATALOG_TEST_PICTURES"]
  guard named != nil || picture != before else { return }
  let folder =
    named.map { URL(filePath: $0) }
    ?? FileManager.default.temporaryDirectory.appending(
      path: "web-catalog-failure-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  try before.write(to: folder.appending(path: "before.png"))
  try picture.write(to: folder.appending(path: "\(name).png"))
  XCTAssertEqual(
    picture, before, "The pictures differ; they are in \(folder.path).", line: line)
}

extension Chromium {
  func signIn(_ name: String, at port: Int) throws {
    try open("http://localhost:\(port)/")
    try type(name, into: "[name=name]")
    try click("form button")
    try wait(until: "document.getElementById('tab')")
  }

  func scroll(_ element: String, to offset: Int) throws {
    try run(
      """
      const element = document.getElementById('\(element)');
      window.hasScrolled = false;
      element.addEventListener('scroll', () => { window.hasScrolled = true; }, { once: true });
      element.scrollTop = \(offset);
      """)
    try wait(until: "window.hasScrolled")
    try waitUntilSaved()
  }

  /// Where the user is: each text, each offset, and the cursor.
  func place() throws -> String {
    try text(
      """
      JSON.stringify({
        search: document.getElementById('search').value,
        title: document.getElementById('title')?.value,
        description: document.getElementById('description')?.value,
        list: document.getElementById('list').scrollTop,
        side: document.getElementById('side').scrollTop,
        width: document.getElementById('list').offsetWidth,
        product: document.querySelector('#detail h1')?.textContent,
        field: document.activeElement.id,
        selection: [document.activeElement.selectionStart, document.activeElement.selectionEnd],
      })
      """)
  }
}
