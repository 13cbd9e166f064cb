// A property of a declarative toolkit that comes back. Five types stand for the toolkit.

import RestorationKit

// MARK: The toolkit

@MainActor protocol View {
  var body: String { get }
}

@MainActor protocol DynamicProperty {
  func update()
}

@MainActor final class Storage<Value> {
  var value: Value { didSet { Toolkit.isDirty = true } }

  init(_ value: Value) { self.value = value }
}

@MainActor @propertyWrapper
struct State<Value>: DynamicProperty {
  let storage: Storage<Value>

  init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  var wrappedValue: Value {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }

  func update() {}
}

@MainActor enum Toolkit {
  static var isDirty = true

  static func draw(_ view: some View) {
    guard isDirty else { return }
    isDirty = false
    print(view.body)
  }
}

// MARK: The wrapper

// snippet.wrapper
@MainActor @propertyWrapper
struct Kept<Value: Codable & Sendable>: DynamicProperty {
  private let kept: Restored<Value>
  // The toolkit draws again when this changes.
  @State private var changes = 0

  init(wrappedValue: Value, _ key: String) {
    kept = Restored(wrappedValue: wrappedValue, key)
  }

  var wrappedValue: Value {
    get { kept.wrappedValue }
    nonmutating set {
      kept.wrappedValue = newValue
      changes += 1
    }
  }

  func update() {}
}

// snippet.end

// MARK: The app

struct Counter: View {
  @Kept("count") var count = 0

  var body: String { "Count: \(count)" }
}

@main @MainActor
struct CounterApp {
  // Synchronous, as that of many toolkits; its return stores what is left, and so would exit.
  static func main() throws {
    try Restoration.beginNow("org.example.counter")
    let counter = Counter()
    Toolkit.draw(counter)
    counter.count += 1
    Toolkit.draw(counter)
  }
}
