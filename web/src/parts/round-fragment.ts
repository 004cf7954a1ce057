const prefix = 'round='

/** A round as a fragment of the verify page's address: it stays in the browser. */
export function roundFragment(round: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(round))
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return prefix + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The JSON text of such a fragment, or null when it carries none. */
export function readRoundFragment(hash: string): string | null {
  const fragment = hash.replace(/^#/, '')
  if (!fragment.startsWith(prefix)) return null
  try {
    const text = atob(fragment.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
    return JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, 2)
  } catch {
    return null
  }
}
