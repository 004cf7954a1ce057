import type { resolvePrincipal } from '@pitboss/contracts/calls/auth'
import type { z } from 'zod'
import { toAccount } from '../records/account-view.ts'
import { roleOf } from '../records/user-view.ts'
import { brandsMax } from '../rules/account-rules.ts'
import type { AuthDeps } from './deps.ts'

/**
 * Finds what the gateway must know about the subject of a token: its account, and its credential or person. A
 * revoked, deleted or removed subject is not active.
 * Source: docs/contract.md, sections 3 and 11.
 */
export function createResolvePrincipal({ stores, clock }: AuthDeps) {
  const { brands, credentials, operators, people, platform } = stores

  return async function resolve(
    request: z.infer<typeof resolvePrincipal.request>,
  ): Promise<z.infer<typeof resolvePrincipal.reply>> {
    const [operator, operatorBrands, realMoney] = await Promise.all([
      operators.find(request),
      brands.first(request, brandsMax),
      platform.isRealMoneyOn(),
    ])
    const account = operator === null ? null : toAccount(operator, operatorBrands, realMoney)
    const answer = { active: operator !== null, account, credential: null, user: null }
    if (operator === null || request.kind === 'session') return answer
    if (request.kind === 'credential') {
      const found = await credentials.active(request, request.apiKey)
      if (found === null) return { ...answer, active: false }
      const { scopes, ipAllowlist, environment } = found
      return { ...answer, credential: { scopes, ip_allowlist: ipAllowlist, environment } }
    }
    const found = await people.active(request, request.userId)
    const now = clock.now()
    const isSignedIn = found?.sessions?.some(
      ({ id, expiresAt }) => id === request.sessionId && expiresAt > now,
    )
    if (found === null || isSignedIn !== true) return { ...answer, active: false }
    const needsFactor = operator.requireTotp === true && found.totp?.confirmed !== true
    const lacks = found.mustChangePassword === true ? 'password' : needsFactor ? 'totp' : null
    return { ...answer, user: { role: roleOf(found, operator.owners), email: found.email, lacks } }
  }
}
