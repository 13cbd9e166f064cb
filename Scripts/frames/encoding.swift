// What an encoding hook writes.

import RestorationKit

func frame(coder: StateEncoder, code: String, search: String, note: String) {
  // The block stands here.
}
