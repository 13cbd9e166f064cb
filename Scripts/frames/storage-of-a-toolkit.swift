// Toolkits with a storage that can be replaced.

import Foundation
import RestorationKit

protocol AppStorageProvider: Sendable {
  func persistValue<Value: Codable>(_ value: Value, forKey key: String) throws
  func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) -> Value?
}
