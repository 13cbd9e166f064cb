/// The number by which a coder names the element that it is open for: its place in the document.
typealias RowNumber = Int32
