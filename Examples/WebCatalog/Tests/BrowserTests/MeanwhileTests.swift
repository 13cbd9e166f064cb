import Foundation
import TestSupport
import XCTest

/// Two people with a browser each, who edit the same product.
final class MeanwhileTests: XCTestCase {
  private let question = "document.querySelector('#meanwhile .words')?.textContent"
  private let heading = "document.querySelector('#detail h1').textContent"

  private func field(_ name: String) -> String { "document.getElementById('\(name)').value" }

  /// Opens the editor of the first product.
  private func edit(_ browser: Chromium) throws {
    try browser.click("#list li a")
    try browser.wait(until: "document.querySelector('button[value=begin]')")
    try browser.click("button[value=begin]")
    try browser.wait(until: "document.getElementById('title')")
  }

  /// Types words in place of those that are there, and saves them.
  private func save(_ title: String, _ description: String, _ browser: Chromium) throws {
    for (name, words) in [("title", title), ("description", description)] {
      try browser.run("document.getElementById('\(name)').select()")
      try browser.type(words, into: "#\(name)")
    }
    try browser.click("button[value=save]")
    try browser.wait(until: "!document.getElementById('title')")
  }

  func testAPageAsksWhileItsUserTypesAndSavesTheirWordsOnceTheyHaveSeenTheNewest() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let (ann, eve) = (try Chromium(in: site.directory), try Chromium(in: site.directory))
    try ann.signIn("Ann", at: server.port)
    try eve.signIn("Eve", at: server.port)
    try edit(ann)
    try ann.type("Mine ", into: "#title")
    try ann.waitUntilSaved()
    let mine = try ann.text(field("title"))
    try ann.run("window.marker = 'here'")
    try edit(eve)
    try save("Theirs", "Their text", eve)
    try ann.wait(until: "\(question) === 'Theirs\\nTheir text'")
    // The user goes on where they were, and nothing that they have is another.
    XCTAssertEqual(try ann.text("document.activeElement.id"), "title")
    XCTAssertEqual(try ann.text(field("title")), mine)
    XCTAssertEqual(try ann.text("window.marker"), "here")
    XCTAssertEqual(
      try ann.text("[...document.querySelectorAll('#finish button')].map(({ value }) => value)"),
      "both,theirs,mine")
    // What a user reads stays. An answer to it is none to what came after it.
    try edit(eve)
    try save("Newest", "Their text", eve)
    try ann.wait(until: "\(heading) === 'Newest'")
    XCTAssertEqual(try ann.text(question), "Theirs\nTheir text")
    try ann.click("button[value=mine]")
    try ann.wait(until: "\(question) === 'Newest\\nTheir text'")
    XCTAssertEqual(try eve.text(heading), "Newest")
    XCTAssertEqual(try ann.text(field("title")), mine)
    try ann.click("button[value=mine]")
    try ann.wait(until: "!document.getElementById('title')")
    try eve.wait(until: "\(heading) === '\(mine)'")
    XCTAssertEqual(try ann.complaints(), [])
  }

  func testAPageAsksOfWordsThatWereSavedWhileItsServerWasAway() throws {
    let site = try Site(usesDatabase: true)
    let (server, other) = (try site.serve(), try site.serve())
    let ann = try Chromium(in: site.directory)
    try ann.signIn("Ann", at: server.port)
    try edit(ann)
    try ann.type("Mine ", into: "#title")
    try ann.waitUntilSaved()
    try ann.run("window.marker = 'here'")
    try server.kill()
    let eve = Visitor(other)
    try eve.save("Theirs", in: eve.signIn("Eve"))
    let again = try site.serve(port: server.port)
    try ann.wait(until: "\(question) === 'Theirs\\nx'")
    XCTAssertEqual(try ann.text("window.marker"), "here")
    withExtendedLifetime(again) {}
  }

  func testWithoutScriptsTheQuestionIsThereAfterAKillAndBothAreMended() throws {
    let site = try Site(usesDatabase: true)
    let (server, other) = (try site.serve(), try site.serve())
    let ann = try Chromium(in: site.directory, scripts: false)
    let eve = try Chromium(in: site.directory)
    try ann.signIn("Ann", at: server.port)
    try eve.signIn("Eve", at: other.port)
    try edit(ann)
    try edit(eve)
    try save("Theirs", "Their text", eve)
    try ann.type("Mine ", into: "#title")
    let mine = try ann.text(field("title"))
    // The key is that of a form: it must not put words in place of those that nobody has seen.
    try ann.press(Key.enter)
    try ann.wait(until: "\(question) === 'Theirs\\nTheir text'")
    try server.kill()
    let again = try site.serve(port: server.port)
    try ann.reload()
    try ann.wait(until: "\(question) === 'Theirs\\nTheir text'")
    XCTAssertEqual(try ann.text(field("title")), mine)
    XCTAssertEqual(try eve.text(heading), "Theirs")
    // Here, too: the first button loses nothing of anybody.
    try ann.click("#title")
    try ann.press(Key.enter)
    try ann.wait(until: "\(field("title")) === '\(mine) / Theirs'")
    XCTAssertEqual(try ann.text(field("description")), "Their text")
    XCTAssertEqual(try ann.text(question), "undefined")
    try ann.run("document.getElementById('title').select()")
    try ann.type("Ours", into: "#title")
    try ann.click("button[value=save]")
    try ann.wait(until: "!document.getElementById('title')")
    XCTAssertEqual(try ann.text(heading), "Ours")
    try eve.reload()
    try eve.wait(until: "\(heading) === 'Ours'")
    withExtendedLifetime(again) {}
  }
}
