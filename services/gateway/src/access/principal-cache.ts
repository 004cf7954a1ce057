import type { resolvePrincipal } from '@pitboss/contracts/calls/auth'
import type { TokenClaims } from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { z } from 'zod'

/** The state behind a token now, whatever the token says. */
export type Principal = z.infer<typeof resolvePrincipal.reply>
type PrincipalQuery = z.infer<typeof resolvePrincipal.request>

const principalsMax = 50_000
/** Changes that may overtake one load before we give up. */
const reloadsMax = 5

type Load = { readonly promise: Promise<Principal>; readonly operatorId: string; stale: boolean }

/**
 * Creates a cache that keeps principals until the access bucket says that they changed. A load that a change
 * overtakes is thrown away, so that no stale principal is kept. Source: docs/contract.md, section 3.
 */
export function createPrincipalCache(load: (query: PrincipalQuery) => Promise<Principal>) {
  const known = new BoundedMap<string, { principal: Principal; operatorId: string }>(principalsMax)
  const loading = new Map<string, Load>()

  function start(key: string, query: PrincipalQuery): Load {
    const begun: Load = { promise: load(query), operatorId: query.operatorId, stale: false }
    loading.set(key, begun)
    const finish = (principal: Principal | null) => {
      if (loading.get(key) === begun) loading.delete(key)
      if (principal !== null && !begun.stale) known.set(key, { principal, operatorId: query.operatorId })
    }
    begun.promise.then(finish, () => finish(null))
    return begun
  }

  function drop(matches: (key: string, operatorId: string) => boolean): void {
    for (const [key, { operatorId }] of [...known.entries()]) if (matches(key, operatorId)) known.delete(key)
    for (const [key, begun] of [...loading]) {
      if (!matches(key, begun.operatorId)) continue
      begun.stale = true
      loading.delete(key)
    }
  }

  return {
    /** @throws ServiceError of the load; SERVICE_UNAVAILABLE when changes keep overtaking it. */
    async of(claims: TokenClaims): Promise<Principal> {
      const { key, query } = lookUp(claims)
      const remembered = known.get(key)
      if (remembered !== undefined) return remembered.principal
      for (let tried = 0; tried < reloadsMax; tried++) {
        const begun = loading.get(key) ?? start(key, query)
        const principal = await begun.promise
        if (!begun.stale) return principal
      }
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: 'access keeps changing' })
    },
    /** Drops the principals that a changed key of the access bucket names; `*` drops all. */
    changed(changedKey: string): void {
      if (changedKey === '*' || changedKey === 'platform') return drop(() => true)
      if (changedKey.startsWith('operator.')) {
        const changedOperator = changedKey.slice('operator.'.length)
        return drop((_key, operatorId) => operatorId === changedOperator)
      }
      drop((key) => key === changedKey || key.startsWith(`${changedKey} `))
    },
  }
}

/**
 * The cache key begins with the bucket's key and holds the operator, so that no token can use another's
 * entry.
 */
function lookUp({ aud, sub, op }: TokenClaims): { key: string; query: PrincipalQuery } {
  switch (aud) {
    case 'operator-api':
      return { key: `credential.${sub} ${op}`, query: { kind: 'credential', operatorId: op, apiKey: sub } }
    case 'dashboard':
      return { key: `user.${sub} ${op}`, query: { kind: 'user', operatorId: op, userId: sub } }
    case 'game-launcher':
      return { key: `sessions-of ${op}`, query: { kind: 'session', operatorId: op } }
  }
}
