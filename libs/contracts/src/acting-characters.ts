/**
 * Control characters, line and paragraph separators and marks of direction, for a class of a regular
 * expression with the flag `u`: they move a cursor, colour text or turn it around. Source: docs/contract.md,
 * section 1.
 */
export const actingCharacters = String.raw`\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`

const acting = new RegExp(`[${actingCharacters}]`, 'gu')
const hexOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16)

/** A text for a terminal, on which nothing of it acts; its lines stay lines. */
export function shown(text: string): string {
  return text.replaceAll(acting, (character) => (character === '\n' ? character : `\\u{${hexOf(character)}}`))
}

/** The same in one line. */
export function shownInLine(text: string): string {
  return shown(text).replaceAll('\n', '\\u{a}')
}

/** One JSON value on which no terminal acts: in one line, or a line for each field, indented by `indent`. */
export function shownJson(value: unknown, indent = 0): string {
  return shownJsonText(JSON.stringify(value, null, indent))
}

/** The text of JSON values as the text of the same values, on which nothing acts. */
export function shownJsonText(text: string): string {
  // JSON escapes the line breaks of its values: one that is left stands between them
  return text.replaceAll(acting, (character) =>
    character === '\n' ? character : `\\u${hexOf(character).padStart(4, '0')}`,
  )
}
