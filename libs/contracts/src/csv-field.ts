/** Characters with which a spreadsheet begins a formula, its wide forms and line ends included. */
const formula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
const number = /^-?\d+(\.\d+)?$/

/**
 * One field of a CSV after RFC 4180: no spreadsheet takes it for a formula; quoted where it must be.
 * Source: docs/contract.md, section 1.
 */
export function csvField(text: string): string {
  const safe = formula.test(text) && !number.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
