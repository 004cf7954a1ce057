/** How an operator account is named to people: `op_` and its uuid without dashes. Source: contract section 1. */
export function operatorHandleOf(operatorId: string): string {
  return `op_${operatorId.replaceAll('-', '')}`
}
