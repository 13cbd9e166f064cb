import Observation
import RestorationKit
import TestSupport
import XCTest

/// Values that are equal and not the same, and declarations that differ.
@MainActor
final class SceneStorageEdgeTests: XCTestCase {
  private let scenes = SceneLaunch()

  func testAValueWhoseEqualityIgnoresAPartIsSet() async throws {
    let host = try await scenes.host()
    let scene = try await host.open()
    let model = EdgeModel(scene)
    model.item = Item(id: 1, text: "old")
    try await host.save(scene)
    model.item = Item(id: 1, text: "new")
    XCTAssertEqual(model.item.text, "new")
    XCTAssertTrue(scene.needsSave)
  }

  func testAnObjectThatWasChangedInPlaceAndSetAgainIsSaved() async throws {
    let first = try await scenes.host()
    let scene = try await first.open()
    EdgeModel(scene).box.number = 1
    let box = Box()
    box.number = 1
    EdgeModel(scene).box = box
    try await first.disconnect(scene)
    let second = try await scenes.host()
    let model = EdgeModel(try await second.connect(second.openSessions[0]))
    let stored = model.box
    XCTAssertEqual(stored.number, 1)
    stored.number = 2
    let told = Flag()
    withObservationTracking {
      _ = model.box
    } onChange: {
      told.isSet = true
    }
    model.box = stored
    XCTAssertTrue(told.isSet)
    XCTAssertTrue(model.scene.needsSave)
    try await second.disconnect(model.scene)
    let third = try await scenes.host()
    let back = EdgeModel(try await third.connect(third.openSessions[0]))
    XCTAssertEqual(back.box.number, 2)
  }

  func testValuesThatAreEqualAndStoredInAnotherFormAreSet() async throws {
    let host = try await scenes.host()
    let scene = try await host.open()
    let model = EdgeModel(scene)
    model.number = 0.0
    model.number = -0.0
    XCTAssertEqual(model.number.sign, .minus)
    model.text = "\u{e9}"
    model.text = "e\u{301}"
    XCTAssertEqual(model.text.utf8.count, 3)
  }

  func testAReaderWithAnotherDefaultIsToldOfAValueThatIsTheDefaultOfTheWriter() async throws {
    let host = try await scenes.host()
    let scene = try await host.open()
    let (one, two) = (OneModel(scene), TwoModel(scene))
    let told = Flag()
    let before = withObservationTracking {
      one.count
    } onChange: {
      told.isSet = true
    }
    two.count = 2
    XCTAssertNotEqual(one.count, before)
    XCTAssertTrue(told.isSet)
  }

  func testOptionalValuesAreSetAndUnset() async throws {
    let host = try await scenes.host()
    let scene = try await host.open()
    let model = EdgeModel(scene)
    model.choice = 1
    scene.needsSave = false
    model.choice = nil
    XCTAssertNil(model.choice)
    XCTAssertTrue(scene.needsSave)
    scene.needsSave = false
    model.choice = nil
    XCTAssertNil(model.choice)
    model.choice = 1
    XCTAssertEqual(model.choice, 1)
    XCTAssertTrue(scene.needsSave)
  }
}

/// Equal if it is the same item, whatever is in it.
private struct Item: Codable, Equatable, Sendable {
  var id: Int
  var text: String

  static func == (left: Item, right: Item) -> Bool { left.id == right.id }
}

private final class Box: Codable, Equatable, @unchecked Sendable {
  var number = 0

  static func == (left: Box, right: Box) -> Bool { left.number == right.number }
}

@MainActor
private final class EdgeModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("item") var item = Item(id: 0, text: "")
  @SceneStorage("box") var box = Box()
  @SceneStorage("number") var number = 1.5
  @SceneStorage("text") var text = ""
  @SceneStorage("choice") var choice: Int?

  init(_ scene: RestorableScene) { self.scene = scene }
}

@MainActor
private final class OneModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("count") var count = 1
  init(_ scene: RestorableScene) { self.scene = scene }
}

@MainActor
private final class TwoModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("count") var count = 2
  init(_ scene: RestorableScene) { self.scene = scene }
}
