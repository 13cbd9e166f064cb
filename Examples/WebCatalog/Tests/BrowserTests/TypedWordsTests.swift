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

  // MARK: Words of two pages

  private let contested = "document.querySelector('#contested .words')?.textContent"

  /// A page that edits the first product, and another device of its user.
  private func pages(
    _ site: Site
  ) throws -> (desk: Chromium, phone: Visitor, tab: String) {
    let server = try site.serve()
    let desk = try Chromium(in: site.directory)
    try desk.signIn("Ann", at: server.port)
    let tab = try desk.text("location.pathname")
    try desk.click("#list li a")
    try desk.wait(until: "document.querySelector('button[value=begin]')")
    try desk.click("button[value=begin]")
    try desk.wait(until: "document.getElementById('description')")
    return (desk, Visitor(server, cookies: ["session": try desk.cookie("session")]), tab)
  }

  /// Types into a field in place of what it has.
  private func write(_ words: String, into field: String, _ browser: Chromium) throws {
    try browser.run(
      """
      const field = document.getElementById('\(field)');
      field.focus();
      field.value = '\(words)';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      """)
  }

  /// A computer without a network.
  private func sleep(_ browser: Chromium) throws {
    try browser.run(
      """
      const ask = fetch;
      window.fetch = () => Promise.reject(new Error('asleep'));
      window.wake = () => { window.fetch = ask; };
      """)
  }

  func testAPageThatWakesReplacesNoNewerWordsBeforeItsUserSaysSo() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    try sleep(desk)
    try write("Of the desk", into: "description", desk)
    try desk.wait(until: "\(status).startsWith('Not stored yet')")
    let answer = try phone.tell(
      ["page": "phone", "number": 1, "description": "Of the phone", "listWidth": 270], in: tab)
    XCTAssertEqual(answer.status, 200)
    try desk.run("wake()")
    try desk.wait(until: "\(contested) === 'Of the phone'")
    // What is typed on stays in the page, also while the rest is stored.
    try desk.type("!", into: "#description")
    try desk.type("o", into: "#search")
    try desk.wait(until: "document.querySelectorAll('#list li').length < 158")
    XCTAssertTrue(try phone.get(tab).text.contains("Of the phone</textarea>"))
    XCTAssertEqual(
      try desk.text("document.getElementById('description').value"), "Of the desk!")
    XCTAssertEqual(try desk.text(status), "Not stored: choose below which words count")
    // No link and no button leads away from the only place that has them.
    for element in ["#list li:nth-child(2) a", "button[value=save]"] {
      try desk.run("document.activeElement.blur()")
      try desk.click(element)
      try desk.wait(until: "document.activeElement.value === 'theirs'")
    }
    XCTAssertTrue(try phone.get(tab).text.contains("Of the phone</textarea>"))

    try desk.click("#contested button[value=mine]")
    // Then it shows what the other one has changed besides.
    try desk.wait(until: "document.getElementById('tab').dataset.listWidth === '270.0'")
    XCTAssertEqual(
      try desk.text("document.getElementById('description').value"), "Of the desk!")
    XCTAssertTrue(try phone.get(tab).text.contains("Of the desk!</textarea>"))
    XCTAssertEqual(try desk.text("document.getElementById('contested').childElementCount"), "0")
  }

  func testAUserOfTwoPagesTakesTheWordsOfTheOtherOne() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    try sleep(desk)
    try write("o", into: "search", desk)
    try write("Of the desk", into: "title", desk)
    try desk.wait(until: "\(status).startsWith('Not stored yet')")
    try phone.tell(
      ["page": "phone", "number": 1, "search": "chess", "title": "Of the phone"], in: tab)
    try desk.run("wake()")
    try desk.wait(until: "document.querySelectorAll('#contested .notice').length === 2")
    XCTAssertEqual(
      try desk.text(
        "[...document.querySelectorAll('#contested b')].map((name) => name.textContent)"),
      "search,title")
    try desk.click("#contested .notice:nth-child(1) button[value=theirs]")
    try desk.wait(until: "document.querySelectorAll('#contested .notice').length === 1")
    XCTAssertEqual(try desk.text("document.getElementById('search').value"), "chess")
    try desk.click("#contested button[value=theirs]")
    try desk.wait(until: "document.getElementById('title')?.defaultValue === 'Of the phone'")
    try desk.waitUntilSaved()
    let page = try phone.get(tab).text
    XCTAssertTrue(page.contains(#"type="search" value="chess""#))
    XCTAssertTrue(page.contains(#"value="Of the phone""#))
  }

  /// The words of both are the same, so there is nothing to choose.
  func testWordsThatBothPagesHaveAreNotContested() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    try sleep(desk)
    try write("Of both", into: "title", desk)
    try desk.wait(until: "\(status).startsWith('Not stored yet')")
    try phone.tell(["page": "phone", "number": 1, "title": "Of both", "listWidth": 270], in: tab)
    try desk.run("wake()")
    try desk.wait(until: "document.getElementById('tab').dataset.listWidth === '270.0'")
    try desk.waitUntilSaved()
    XCTAssertTrue(try phone.get(tab).text.contains(#"value="Of both""#))
  }

  /// The answer to a message may be the first that a page hears of it.
  func testAPageShowsWhatAnotherOneHasChangedBeforeItsUserReplacesIt() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    // It is deaf to events, as where they come late.
    try desk.run("dispatchEvent(new Event('beforeunload'))")
    try phone.tell(["page": "phone", "number": 1, "search": "chess"], in: tab)
    try write("Of the desk", into: "title", desk)
    try desk.wait(until: "document.getElementById('search').value === 'chess'")
    XCTAssertTrue(try phone.get(tab).text.contains(#"value="Of the desk""#))
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

  func testABrowserPutsNoOldWordsBackWhenItsUserGoesBack() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    let title = "document.querySelector('#detail h1').textContent"
    for (field, words) in [("description", "Old"), ("title", "Old"), ("search", "o")] {
      try write(words, into: field, desk)
    }
    try desk.waitUntilSaved()
    let before = try desk.text(title)
    try desk.click("#list li:nth-child(2) a")
    try desk.wait(until: "\(title) !== '\(before)' && document.getElementById('description')")
    for (field, words) in [("description", "New"), ("title", "New"), ("search", "a")] {
      try write(words, into: field, desk)
    }
    try desk.waitUntilSaved()
    try desk.back()
    try desk.wait(until: "document.getElementById('search')?.value === 'a'")
    try desk.waitUntilSaved()
    for _ in 1...2 {
      XCTAssertEqual(
        try desk.text(
          "['search', 'title', 'description'].map((id) => document.getElementById(id).value)"),
        "a,New,New")
      let page = try phone.get(tab).text
      XCTAssertTrue(page.contains("New</textarea>") && page.contains(#"value="New""#), page)
      try desk.reload()
      try desk.wait(until: "document.getElementById('status')?.dataset.state === 'saved'")
    }
  }

  /// Not every browser does as it is asked.
  func testWordsThatABrowserPutsBackReplaceNoneThatWereTypedSince() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    let server = phone.server
    try write("Old", into: "description", desk)
    try desk.waitUntilSaved()
    let state = try desk.text("JSON.stringify(history.state)")
    try phone.tell(["page": "phone", "number": 1, "description": "New"], in: tab)
    try desk.wait(until: "document.getElementById('description')?.defaultValue === 'New'")
    try putBack(
      """
      history.replaceState(\(state), '');
      document.getElementById('description').value = 'Old';
      """, desk, server)
    try desk.wait(until: "\(contested) === 'New'")
    XCTAssertTrue(try phone.get(tab).text.contains("New</textarea>"))
    // Where nothing is newer they are words that nobody has stored yet.
    try desk.click("#contested button[value=theirs]")
    try desk.wait(until: "document.getElementById('contested').childElementCount === 0")
    try desk.waitUntilSaved()
    try desk.reload()
    try desk.waitUntilSaved()
    try putBack("document.getElementById('description').value = 'Newest';", desk, server)
    try desk.waitUntilSaved()
    XCTAssertTrue(try phone.get(tab).text.contains("Newest</textarea>"))
  }

  /// Does as a browser that puts words back into a page: they are there when its script begins.
  ///
  /// In one step, since a page that loads itself again between two steps has lost the words.
  private func putBack(_ words: String, _ desk: Chromium, _ server: Server) throws {
    try desk.run("\(words)\n\(Visitor(server).get("/catalog.js").text)")
  }

  /// The page of one product may be shown again where another one is edited.
  func testWordsThatABrowserPutsIntoAnotherEditorAreNotTold() throws {
    let (desk, phone, tab) = try pages(try Site(usesDatabase: true))
    try putBack(
      """
      history.replaceState({ ...history.state, product: 'another one' }, '');
      document.getElementById('title').value = 'Of another one';
      """, desk, phone.server)
    try desk.waitUntilSaved()
    XCTAssertNotEqual(try desk.text("document.getElementById('title').value"), "Of another one")
    XCTAssertFalse(try phone.get(tab).text.contains("Of another one"))
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
