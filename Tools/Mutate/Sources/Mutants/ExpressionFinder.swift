internal import SwiftSyntax

/// Finds what can be changed in an expression.
///
/// Text in quotes is left as it is: what a message says is wording, and the decision which one is
/// said is changed like any other.
final class ExpressionFinder: MutantFinder {
  private static let otherOperators = [
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*",
  ]

  // MARK: Conditions

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if case .expression(let condition) = node.condition { negate(condition) }
    return .visitChildren
  }

  override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  private func negate(_ condition: ExprSyntax) {
    // Another operator or another literal is the same mutant already.
    if condition.is(BooleanLiteralExprSyntax.self) { return }
    if let infix = condition.as(InfixOperatorExprSyntax.self),
      ["==", "!=", "===", "!=="].contains(infix.operator.trimmedDescription)
    {
      return
    }
    choose("!(\(condition.trimmedDescription))", for: condition)
  }

  // MARK: Operators and literals

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    let name = node.operator.trimmedDescription
    let (left, right) = (node.leftOperand, node.rightOperand)
    if name == "??" {
      choose(right.trimmedDescription, for: node)
    } else if let other = Self.otherOperators[name], !(name == "+" && isText(ExprSyntax(node))) {
      choose("\(left.trimmedDescription) \(other) \(right.trimmedDescription)", for: node)
    }
    return .visitChildren
  }

  /// Whether it is a sum with text in it, of which there is no difference.
  private func isText(_ node: ExprSyntax) -> Bool {
    guard let sum = node.as(InfixOperatorExprSyntax.self) else {
      return node.is(StringLiteralExprSyntax.self)
    }
    return sum.operator.trimmedDescription == "+"
      && (isText(sum.leftOperand) || isText(sum.rightOperand))
  }

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    choose(node.literal.text == "true" ? "false" : "true", for: node)
    return .visitChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    let digits = node.literal.text.replacing("_", with: "")
    let value =
      digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits, radix: 10)
    if let value, value < .max { choose("\(value + 1)", for: node) }
    return .visitChildren
  }

  private func choose(_ text: String, for node: some ExprSyntaxProtocol) {
    found.append([Edit(range: range(of: node), form: .choose(text))])
  }
}
