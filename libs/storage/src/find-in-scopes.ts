import type { Scope } from '@pitboss/contracts/caller'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'

/** What the first of the scopes has that has anything. @throws ServiceError NOT_FOUND, or `code` */
export async function findInScopes<Found>(
  scopes: readonly Scope[],
  find: (scope: Scope) => Promise<Found | null>,
  code: ErrorCode = 'NOT_FOUND',
): Promise<Found> {
  for (const scope of scopes) {
    const found = await find(scope)
    if (found !== null) return found
  }
  throw new ServiceError(code)
}
