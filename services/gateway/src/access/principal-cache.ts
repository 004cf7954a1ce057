import type { resolvePrincipal } from '@pitboss/contracts/calls/auth'
import type { TokenClaims } from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'

/** The state behind a token now, whatever the token says. */
export type Principal = z.infer<typeof resolvePrincipal.reply>
type PrincipalQuery = z.infer<typeof resolvePrincipal.request>

const principalsMax = 50_000
/** Changes that may overtake one load before we give up. */
const reloadsMax = 5

type Load = { readonly promise: Promise<Principal>; stale: boolean }

/**
 * Creates a cache that keeps principals until the access bucket says that they changed. A load that a change
 * overtakes is thrown away, so that no stale principal is kept. Source: docs/contract.md, section 3.
 */
export function createPrincipalCache(load: (query: PrincipalQuery) => Promise<Principal>) {
  const known = createIndexedPrincipals()
  const loading = new Map<string, Load>()

  function start(key: string, query: PrincipalQuery): Load {
    const begun: Load = { promise: load(query), stale: false }
    loading.set(key, begun)
    const finish = (principal: Principal | null) => {
      if (loading.get(key) === begun) loading.delete(key)
      if (principal !== null && !begun.stale) known.set(key, principal)
    }
    begun.promise.then(finish, () => finish(null))
    return begun
  }

  /** Loads under way are few: each belongs to a request that waits. */
  function dropLoads(matches: (key: string) => boolean): void {
    for (const [key, begun] of [...loading]) {
      if (!matches(key)) continue
      begun.stale = true
      loading.delete(key)
    }
  }

  return {
    /** @throws ServiceError of the load; SERVICE_UNAVAILABLE when changes keep overtaking it. */
    async of(claims: TokenClaims): Promise<Principal> {
      const { key, query } = lookUp(claims)
      const remembered = known.get(key)
      if (remembered !== undefined) return remembered
      for (let tried = 0; tried < reloadsMax; tried++) {
        const begun = loading.get(key) ?? start(key, query)
        const principal = await begun.promise
        if (!begun.stale) return principal
      }
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: 'access keeps changing' })
    },
    /** Drops the principals that a changed key of the access bucket names; `*` drops all. */
    changed(changedKey: string): void {
      if (changedKey === '*' || changedKey === 'platform') {
        known.clear()
        dropLoads(() => true)
        return
      }
      known.dropNamed(changedKey)
      dropLoads((key) => namesOf(key).includes(changedKey))
    },
  }
}

/**
 * Principals by cache key (bounded), found by the key of the access bucket that names them too: a change
 * costs as much as it drops, however many are known.
 */
function createIndexedPrincipals() {
  const principals = new Map<string, Principal>()
  const keysByName = new Map<string, Set<string>>()

  function remove(key: string): void {
    principals.delete(key)
    for (const name of namesOf(key)) {
      const keys = keysByName.get(name)
      keys?.delete(key)
      if (keys?.size === 0) keysByName.delete(name)
    }
  }

  return {
    get(key: string): Principal | undefined {
      const principal = principals.get(key)
      if (principal === undefined) return undefined
      // What was used last is removed last.
      principals.delete(key)
      principals.set(key, principal)
      return principal
    },
    set(key: string, principal: Principal): void {
      principals.set(key, principal)
      for (const name of namesOf(key)) {
        keysByName.set(name, (keysByName.get(name) ?? new Set()).add(key))
      }
      if (principals.size <= principalsMax) return
      const [oldest] = principals.keys()
      if (oldest !== undefined) remove(oldest)
    },
    dropNamed(name: string): void {
      for (const key of [...(keysByName.get(name) ?? [])]) remove(key)
    },
    clear(): void {
      principals.clear()
      keysByName.clear()
    },
  }
}

/** The keys of the access bucket that name a cache entry: its subject's and its operator's. */
function namesOf(key: string): [subject: string, operator: string] {
  const [subject = '', operatorId = ''] = key.split(' ')
  return [subject, `operator.${operatorId}`]
}

/**
 * The cache key begins with the bucket's key and holds the operator, so that no token can use another's
 * entry.
 */
function lookUp({ aud, sub, op, sid }: TokenClaims): { key: string; query: PrincipalQuery } {
  switch (aud) {
    case 'operator-api':
      return { key: `credential.${sub} ${op}`, query: { kind: 'credential', operatorId: op, apiKey: sub } }
    case 'dashboard':
      return {
        key: `user.${sub} ${op} ${sid ?? ''}`,
        query: { kind: 'user', operatorId: op, userId: sub, sessionId: sid ?? null },
      }
    case 'game-launcher':
      return { key: `sessions-of ${op}`, query: { kind: 'session', operatorId: op } }
  }
}
