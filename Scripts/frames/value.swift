// A value of the app.

import RestorationKit

func frame(zoom: RestoredValue<Int>) {
  // The block stands here.
}
