import { createHash } from 'node:crypto'

/**
 * Finds the instance that owns a key: of all that are alive the one with the highest hash of both, so that
 * one more or less moves no more keys than it has to. Null while none is alive. Source: ours.
 */
export function ownerOf(key: string, alive: readonly string[]): string | null {
  let owner: string | null = null
  let highest = ''
  for (const instance of alive) {
    const hash = createHash('sha256').update(`${key}/${instance}`).digest('hex')
    if (hash <= highest) continue
    highest = hash
    owner = instance
  }
  return owner
}
