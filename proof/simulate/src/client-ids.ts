/** How the clients of a run name what they ask for. */
export type IdStyle = 'plain' | 'long' | 'cased'
export const idStyles: readonly IdStyle[] = ['plain', 'plain', 'long', 'cased']

const charactersMax = 128

/**
 * The id of a request: plain; with as many characters as there may be, of which the last alone differ; or one
 * of two that differ in nothing but the case of a letter.
 * @param stem which client asks, and for what
 */
export function nameRequest(style: IdStyle, stem: string, number: number): string {
  if (style === 'long') return stem.padEnd(charactersMax - String(number).length, '-') + number
  if (style === 'plain') return `${stem}${number}`
  return `${stem}${Math.ceil(number / 2)}${number % 2 === 0 ? 'K' : 'k'}`
}
