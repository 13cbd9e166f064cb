import RestorationKit
import RestorationSharing

extension UserKeys {
  /// The key of a user, which is made if there is none.
  func provider(of user: User) async throws(WebProblem) -> any KeyProvider {
    do {
      return try await provider(for: user.account.description)
    } catch {
      throw .unavailable("Your key cannot be read. Try again in a moment.", "\(error)")
    }
  }

  /// Destroys the key of a user: after this nothing that was sealed under it opens any more.
  func destroyKey(of user: User) async throws(WebProblem) {
    do {
      try await removeUser(user.account.description)
    } catch {
      throw .unavailable(
        "Your account could not be removed. Try again in a moment.", "\(error)")
    }
  }
}
