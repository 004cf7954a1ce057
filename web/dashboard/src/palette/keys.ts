import { places } from '../session/places.ts'

/** What a key does in the dashboard. */
export type KeyAct =
  | { readonly kind: 'search' | 'keys' | 'zone' | 'next-row' | 'previous-row' | 'filters' }
  | { readonly kind: 'page'; readonly which: 'next' | 'first' }
  | { readonly kind: 'go'; readonly href: string }

type Pressed = { readonly key: string; readonly command: boolean }

/** The one list of keys; `shown` is how the help writes it. "g" waits for the letter of a page. */
const plainKeys: readonly { key: string; shown: string; does: string; act: KeyAct }[] = [
  { key: '/', shown: '/, Ctrl K', does: 'search by id, or a page by its name', act: { kind: 'search' } },
  { key: '?', shown: '?', does: 'show these keys', act: { kind: 'keys' } },
  { key: 'j', shown: 'j', does: 'next row of the list; Enter opens it', act: { kind: 'next-row' } },
  { key: 'k', shown: 'k', does: 'row before', act: { kind: 'previous-row' } },
  { key: 'n', shown: 'n', does: 'next page of the list', act: { kind: 'page', which: 'next' } },
  { key: 'p', shown: 'p', does: 'first page of the list', act: { kind: 'page', which: 'first' } },
  { key: 'f', shown: 'f', does: 'to the filters', act: { kind: 'filters' } },
  { key: 'z', shown: 'z', does: 'show times in the next zone', act: { kind: 'zone' } },
]

const keyedPlaces = places.flatMap(({ places }) =>
  places.flatMap(({ key, title, href }) => (key === undefined ? [] : [{ key, title, href }])),
)

/** Every key with what it does, for the help. */
export const keyTexts: readonly { readonly shown: string; readonly does: string }[] = [
  ...plainKeys.map(({ shown, does }) => ({ shown, does })),
  ...keyedPlaces.map(({ key, title }) => ({ shown: `g ${key}`, does: `go to ${title}` })),
]

/**
 * What a key that is pressed outside of fields and dialogs does; null for nothing.
 * @param waiting "g" was pressed just before
 * @returns `waiting`: the next letter names a page
 */
export function actOfKey(
  { key, command }: Pressed,
  waiting: boolean,
): { readonly act: KeyAct | null; readonly waiting: boolean } {
  if (command) return { act: key.toLowerCase() === 'k' ? { kind: 'search' } : null, waiting: false }
  if (waiting) {
    const place = keyedPlaces.find((one) => one.key === key)
    return { act: place === undefined ? null : { kind: 'go', href: place.href }, waiting: false }
  }
  if (key === 'g') return { act: null, waiting: true }
  return { act: plainKeys.find((one) => one.key === key)?.act ?? null, waiting: false }
}
