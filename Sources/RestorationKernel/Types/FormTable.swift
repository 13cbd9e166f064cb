/// The forms of a document, and those that a save meets first.
final class FormTable {
  let objects: ObjectTable
  private var types: TypeTable { objects.types }
  private var forms: [Form] = []
  private var numbers: [Form: Int32] = [:]
  private var storedCount = 0
  /// The forms that the document does not have yet.
  var newForms: ArraySlice<Form> { forms[storedCount...] }
  /// Counts how often forms may have got other numbers.
  private var age = 0

  init(_ objects: ObjectTable) { self.objects = objects }

  /// Goes on with the forms of a document, and forgets those of a save that was not stored.
  func begin(with document: Document) {
    storedCount = document.head.forms.count
    guard forms != document.head.forms else { return }
    (forms, age) = (document.head.forms, age + 1)
    numbers = Dictionary(zip(forms, 0...), uniquingKeysWith: { first, _ in first })
  }

  /// The number of the form in which an object is stored; a restoration class that is not registered
  /// is noted.
  func form(
    of object: any StateRestoring, _ info: TypeInfo, restorationClass: Any.Type?,
    note: (ReportNote) -> Void
  ) -> Int32 {
    // The table is asked for each object that a save meets: most of one type have one form.
    let named = restorationClass.map { ObjectIdentifier($0) }
    let isPlain = !types.hasStoryboards && !objects.hasRestoredNames
    if isPlain, let known = info.form, known.age == age, known.named == named {
      return known.number
    }
    let maker = objects.restorationClass(of: object, info, naming: restorationClass)
    if let maker, !maker.isRegistered { note(.restorationClassNotRegistered(maker.name)) }
    var form = Form(className: info.name, restorationClassName: maker?.name)
    form.version = types.version(ofClass: info.name, restoredBy: maker?.name).number
    if types.hasStoryboards, let node = info.node(object) {
      form.storyboard = types.storyboard(of: node)
    }
    let number = number(of: form)
    if isPlain, maker?.isRegistered ?? true { info.form = (age, named, number) }
    return number
  }

  private func number(of form: Form) -> Int32 {
    if let number = numbers[form] { return number }
    let number = Int32(forms.count)
    forms.append(form)
    numbers[form] = number
    return number
  }
}
