import { createHash } from 'node:crypto'

/**
 * The instance that delivers to an endpoint: of all that are alive the one with the highest hash of both ids, so
 * that one more or less moves no more endpoints than it has to. Null while none is alive. Source: ours.
 */
export function ownerOf(webhookId: string, alive: readonly string[]): string | null {
  let owner: string | null = null
  let highest = ''
  for (const instance of alive) {
    const hash = createHash('sha256').update(`${webhookId}/${instance}`).digest('hex')
    if (hash <= highest) continue
    highest = hash
    owner = instance
  }
  return owner
}
