// The storage that two toolkits ask for, over values that come back. Two protocols stand for the toolkits.

import Foundation
import RestorationKit

// MARK: The toolkits

protocol AppStorageProvider: Sendable {
  func persistValue<Value: Codable>(_ value: Value, forKey key: String) throws
  func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) -> Value?
}

protocol StorageBackend: Sendable {
  func value<Value: Codable>(forKey key: String) -> Value?
  func setValue<Value: Codable>(_ value: Value, forKey key: String)
  func removeValue(forKey key: String)
  func synchronize()
}

// MARK: The storage

// snippet.storage
struct RestoredStorage: AppStorageProvider, StorageBackend {
  private func stored(_ key: String) -> RestoredValue<Data?> { RestoredValue(key, default: nil) }

  func persistValue<Value: Codable>(_ value: Value, forKey key: String) throws {
    stored(key).value = try JSONEncoder().encode(value)
  }

  func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) -> Value? {
    guard let data = stored(key).value else { return nil }
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      // The toolkit has no other answer than nil; what is stored stays until a value is set.
      print("The value of “\(key)” is no \(type). \(error)")
      return nil
    }
  }

  func value<Value: Codable>(forKey key: String) -> Value? {
    retrieveValue(ofType: Value.self, forKey: key)
  }

  func setValue<Value: Codable>(_ value: Value, forKey key: String) {
    do {
      try persistValue(value, forKey: key)
    } catch {
      print("The value of “\(key)” is not stored. \(error)")
    }
  }

  func removeValue(forKey key: String) { stored(key).remove() }

  // It is saved by itself.
  func synchronize() {}
}
// snippet.end

// MARK: The app

@main @MainActor
struct CounterApp {
  static func main() throws {
    try Restoration.beginNow("org.example.stored-counter")
    let storage = RestoredStorage()
    let count = storage.value(forKey: "count") ?? 0
    print("Count: \(count)")
    storage.setValue(count + 1, forKey: "count")
  }
}
