// A toolkit with objects that stay.

import RestorationKit

class TextField {
  var (name, text) = ("field", "")
  var selectedRange = 0..<0
}
