import Foundation
import TestSupport
import XCTest

/// What a person has typed, and where the keyboard is, while others change what the page shows.
final class TypedWordsTests: XCTestCase {
  private let status = "document.getElementById('status').textContent"

  func testWordsThatNoEditorTakesStayInThePageAndTheRestIsStored() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let desk = try Chromium(in: site.directory)
    try desk.signIn("Ann", at: server.port)
    let tab = try desk.text("location.pathname")
    try desk.click("#list li a")
    try desk.wait(until: "document.querySelector('button[value=begin]')")
    try desk.click("button[value=begin]")
    try desk.wait(until: "document.getElementById('description')")
    try desk.type("Half a word", into: "#description")
    try desk.waitUntilSaved()
    // The edit is left elsewhere before the page has told what was typed last.
    try desk.run(
      """
      window.marker = 'here';
      const later = setTimeout;
      window.setTimeout = (action, pause) => later(action, 1000 + pause);
      const text = document.getElementById('description');
      text.value += '!';
      text.dispatchEvent(new Event('input', { bubbles: true }));
      const form = document.getElementById('editor');
      const fields = new URLSearchParams(new FormData(form));
      fields.set('do', 'leave');
      fetch(form.action, { method: 'POST', body: fields });
      """)
    try desk.wait(until: "\(status).startsWith('Not stored: Another page of yours')")
    try desk.type("o", into: "#search")
    try desk.wait(until: "document.querySelectorAll('#list li').length < 158")
    let phone = Visitor(server, cookies: ["session": try desk.cookie("session")])
    XCTAssertTrue(try phone.get(tab).text.contains(#"type="search" value="o""#))
    XCTAssertTrue(
      try desk.text("document.getElementById('description').value").contains("Half a word!"))
    XCTAssertTrue(try desk.text(status).hasPrefix("Not stored: Another page of yours"))
    // No reload has replaced it.
    XCTAssertEqual(try desk.text("window.marker"), "here")
  }

  func testAPageTellsOnceMoreWhatItsUserTypesWhereAnotherOneHasChangedTheSame() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let desk = try Chromium(in: site.directory)
    try desk.signIn("Ann", at: server.port)
    let tab = try desk.text("location.pathname")
    // The page tells nothing yet, and hears of the other one when it does.
    try desk.run(
      """
      const later = setTimeout;
      window.held = [];
      window.setTimeout = (action, pause) => held.push([action, pause]);
      window.release = () => {
        window.setTimeout = later;
        held.forEach(([action, pause]) => later(action, pause));
      };
      """)
    try desk.type("o", into: "#search")
    try desk.wait(until: "held.length === 1")
    let phone = Visitor(server, cookies: ["session": try desk.cookie("session")])
    try phone.tell(["page": "phone", "number": 1, "search": "chess", "listWidth": 270], in: tab)
    try desk.run("release()")
    // It shows what the other one has changed besides.
    try desk.wait(until: "document.getElementById('tab').dataset.listWidth === '270.0'")
    XCTAssertEqual(try desk.text("document.getElementById('search').value"), "o")
    XCTAssertTrue(try phone.get(tab).text.contains(#"type="search" value="o""#))
  }

  /// The script may come late over a slow network, and a browser may put words back.
  func testWhatIsTypedBeforeTheScriptBeginsIsStored() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let tab = try browser.text("location.pathname")
    let visitor = Visitor(server, cookies: ["session": try browser.cookie("session")])
    try browser.run("document.getElementById('search').value = 'chess'")
    try browser.run(visitor.get("/catalog.js").text)
    XCTAssertNotEqual(try browser.text(status), "Saved")
    try browser.waitUntilSaved()
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="chess""#))
  }

  func testAPageGoesOnWhereItsServerHasTooMuchToDo() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try browser.run(
      """
      const ask = fetch;
      window.refusals = 0;
      window.fetch = (...all) => refusals++ < 2
        ? Promise.resolve(new Response('{}', { status: 429 })) : ask(...all);
      """)
    try browser.type("o", into: "#search")
    try browser.wait(until: "refusals > 2")
    try browser.waitUntilSaved()
  }

  func testManySavesOfAProductLetAPageLookOnceOrTwice() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try browser.run(
      """
      const [later, ask] = [setTimeout, fetch];
      window.held = [];
      window.setTimeout = (action, pause) => held.push([action, pause]);
      window.release = () => {
        window.setTimeout = later;
        held.forEach(([action, pause]) => later(action, pause));
      };
      window.looks = 0;
      window.fetch = (...all) => { looks += 1; return ask(...all); };
      window.heard = 0;
      new EventSource(`${location.pathname}/events`).addEventListener('edited', () => { heard += 1; });
      """)
    let eve = Visitor(server)
    let tab = try eve.signIn("Eve")
    for number in 1...10 { try eve.save("New \(number)", in: tab) }
    try browser.wait(until: "heard === 10")
    XCTAssertLessThanOrEqual(try Int(browser.text("looks")) ?? 10, 1)
    try browser.run("release()")
    try browser.wait(until: "document.querySelector('#list li b').textContent === 'New 10'")
    XCTAssertLessThanOrEqual(try Int(browser.text("looks")) ?? 10, 3)
  }

  func testAPageWithoutScriptsDoesNotSayThatItsWordsAreSaved() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory, scripts: false)
    try browser.signIn("Ann", at: server.port)
    try browser.click("#list li a")
    try browser.wait(until: "document.querySelector('button[value=begin]')")
    try browser.click("button[value=begin]")
    try browser.wait(until: "document.getElementById('title')")
    try browser.type("More", into: "#title")
    XCTAssertEqual(try browser.text(status), "")
    XCTAssertTrue(
      try browser.text("document.getElementById('side').innerText")
        .contains("Without scripts, words are lost unless you press Save."))
    try browser.click("button[value=save]")
    try browser.wait(until: "!document.getElementById('title')")
    XCTAssertTrue(
      try browser.text("document.querySelector('#detail h1').textContent").contains("More"))
  }

  func testAPageWhoseUserHasSignedInAgainGoesOnWithTheNewSession() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let before = try browser.cookie("session")
    // As another window does, which has the same cookies.
    try browser.run(
      """
      const token = async (address) =>
        new DOMParser().parseFromString(await (await fetch(address)).text(), 'text/html')
          .querySelector('input[name=token]').value;
      const send = async (address, fields) => fetch(address, {
        method: 'POST', body: new URLSearchParams({ ...fields, token: await token('/') }) });
      window.isIn = false;
      (async () => {
        await send('/sign-out', {});
        await send('/sign-in', { name: 'Ann', passphrase: '' });
        window.isIn = true;
      })();
      """)
    try browser.wait(until: "window.isIn")
    XCTAssertNotEqual(try browser.cookie("session"), before)
    try browser.type("tea", into: "#search")
    try browser.waitUntilSaved()
    let visitor = Visitor(server, cookies: ["session": try browser.cookie("session")])
    let tab = try browser.text("location.pathname")
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="tea""#))
    // Forms have the new token, too.
    try browser.click("form[action$=link] button")
    try browser.wait(until: "document.getElementById('link')")
  }

  func testTheKeyboardStaysWhereItIsWhenSomebodySavesWords() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try browser.run("document.querySelectorAll('#list a')[20].focus()")
    let target = try browser.text("document.activeElement.href")
    let eve = Visitor(server)
    try eve.save("New words", in: eve.signIn("Eve"))
    try browser.wait(until: "document.querySelector('#list li b').textContent === 'New words'")
    XCTAssertEqual(try browser.text("document.activeElement.href"), target)
  }

  func testTheKeyboardDoesNotGoBackToAFieldThatTheUserHasLeft() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    try browser.type("o", into: "#search")
    try browser.waitUntilSaved()
    try browser.run("document.querySelectorAll('#list a')[2].focus()")
    try browser.press(Key.enter)
    try browser.wait(until: "document.querySelector('#detail h1')")
    XCTAssertEqual(try browser.text("document.activeElement.tagName"), "BODY")
    try browser.reload()
    try browser.wait(until: "document.getElementById('status')")
    XCTAssertEqual(try browser.text("document.activeElement.tagName"), "BODY")
  }

  func testTheWidthOfTheListIsToldToThoseWhoDoNotSeeIt() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let handle = "document.getElementById('handle')"
    XCTAssertEqual(
      try browser.text(
        "['min', 'now', 'max'].map((name) => \(handle).getAttribute('aria-value' + name))"),
      "180,360,900")
    try browser.run("\(handle).focus()")
    try browser.press(Key.right)
    try browser.wait(until: "\(handle).getAttribute('aria-valuenow') === '380'")
  }
}
