export type BodyIntake = {
  /**
   * Counts a body that is being received until the returned function is called. `giveUp` is called when
   * newer bodies need its place.
   */
  begin(address: string, giveUp: () => void): () => void
  receiving(): number
}

/**
 * Counts bodies on their way, which wait for their client and do not load the gateway. Beyond the bound per
 * address the oldest body of that address gives way, beyond the bound of all the oldest of all: a body that
 * comes at once is never the oldest.
 */
export function createBodyIntake({
  perAddressMax,
  allMax,
}: {
  perAddressMax: number
  allMax: number
}): BodyIntake {
  type Body = { readonly address: string; readonly giveUp: () => void }
  const all = new Set<Body>()
  const byAddress = new Map<string, Set<Body>>()

  function end(body: Body): void {
    const ofAddress = byAddress.get(body.address)
    all.delete(body)
    ofAddress?.delete(body)
    if (ofAddress?.size === 0) byAddress.delete(body.address)
  }

  function makeRoom(bodies: ReadonlySet<Body>, max: number): void {
    const [oldest] = bodies
    if (oldest === undefined || bodies.size < max) return
    end(oldest)
    oldest.giveUp()
  }

  return {
    begin(address, giveUp) {
      makeRoom(byAddress.get(address) ?? new Set(), perAddressMax)
      makeRoom(all, allMax)
      const body = { address, giveUp }
      all.add(body)
      byAddress.set(address, (byAddress.get(address) ?? new Set()).add(body))
      return () => end(body)
    },
    receiving: () => all.size,
  }
}
