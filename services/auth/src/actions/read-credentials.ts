import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { PageQuery } from '../storage/account.ts'
import type { AuthDeps } from './deps.ts'

/** Finds key pairs of an account. Source: docs/contract.md, section 11. */
export function createReadCredentials({ stores: { credentials } }: AuthDeps) {
  return {
    /**
     * Finds a key pair and the scope it is in.
     * @throws ServiceError NOT_FOUND
     */
    async find(caller: Caller, apiKey: string) {
      for (const scope of lookupScopes(caller)) {
        const found = await credentials.find(scope, apiKey)
        if (found !== null) return { scope, found }
      }
      throw new ServiceError('NOT_FOUND')
    },

    /** Lists key pairs, newest first. */
    list: (scope: Scope, query: PageQuery) => credentials.page(scope, query),
  }
}
