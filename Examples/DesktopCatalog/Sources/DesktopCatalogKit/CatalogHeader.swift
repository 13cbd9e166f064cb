import CGtk
import RestorationGTK

/// The bar at the top of a window: its title, and what can be done in it.
@MainActor
final class CatalogHeader {
  /// A `GtkHeaderBar`.
  let widget = ObjectPointer(made: gtk_header_bar_new())
  /// Called when the user wants to change the words of the product.
  var edit: (@MainActor () -> Void)?
  /// Called when the user wants to leave the editor.
  var cancel: (@MainActor () -> Void)?
  /// Called when the user wants to keep the words.
  var save: (@MainActor () -> Void)?

  private let newWindowButton = ObjectPointer(
    made: gtk_button_new_from_icon_name("window-new-symbolic"))
  private let editButton = ObjectPointer(made: gtk_button_new_with_mnemonic("_Edit"))
  private let cancelButton = ObjectPointer(made: gtk_button_new_with_mnemonic("_Cancel"))
  private let saveButton = ObjectPointer(made: gtk_button_new_with_mnemonic("_Save"))

  init() {
    setAccessibleLabel(newWindowButton, "New window")
    gtk_widget_set_tooltip_text(newWindowButton.of(), "New window")
    gtk_actionable_set_action_name(newWindowButton.opaque, "app.new-window")
    add(.suggested, to: saveButton)
    for button in [newWindowButton, cancelButton] {
      gtk_header_bar_pack_start(widget.opaque, button.of())
    }
    for button in [editButton, saveButton] {
      gtk_header_bar_pack_end(widget.opaque, button.of())
    }
    connect(editButton, "clicked") { [unowned self] in edit?() }
    connect(cancelButton, "clicked") { [unowned self] in cancel?() }
    connect(saveButton, "clicked") { [unowned self] in save?() }
  }

  /// Whether a button has the keyboard that is not shown then.
  func losesKeyboard(isEditing: Bool) -> Bool {
    let hidden = isEditing ? [newWindowButton, editButton] : [cancelButton, saveButton]
    return hidden.contains { gtk_widget_is_focus($0.of()) != 0 }
  }

  /// Shows the buttons for what can be done now.
  func show(isEditing: Bool, canEdit: Bool) {
    for button in [cancelButton, saveButton] {
      gtk_widget_set_visible(button.of(), isEditing ? 1 : 0)
    }
    for button in [newWindowButton, editButton] {
      gtk_widget_set_visible(button.of(), isEditing ? 0 : 1)
    }
    gtk_widget_set_sensitive(editButton.of(), canEdit ? 1 : 0)
  }
}
