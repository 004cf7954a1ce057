import { handler } from '@pitboss/bus/serve-calls'
import {
  listPublicKeys,
  mintLaunchToken,
  mintToken,
  resolvePrincipal,
  signDocument,
} from '@pitboss/contracts/calls/auth'
import { toSetup } from '@pitboss/contracts/environments'
import { operatorHandleOf } from '@pitboss/contracts/operator-handle'
import { ServiceError } from '@pitboss/errors/service-error'
import { toAccount } from '../records/account-view.ts'
import { isAllowed } from '../rules/address-list.ts'
import { requireLivePlan } from '../rules/plan-rules.ts'
import { roleOf } from '../records/user-view.ts'
import type { AuthDeps } from './deps.ts'

const brandsMax = 1000
const lastUsedStepMs = 60_000

/** Minting, the gateway's look-ups and signing. Source: contract sections 3 and 11 ("Access"). */
export function tokenHandlers(deps: AuthDeps) {
  const { collections, stores, signer, secretHash, clock, tokenTtlS, random } = deps
  const { operators, platform } = collections
  const { brands, credentials, people } = stores
  // Verified for an unknown key, so that it costs the same as a wrong secret.
  const decoyHash = secretHash.hash(Buffer.from(random(32)).toString('hex'))

  return [
    handler(mintToken, async ({ api_key, api_secret, clientAddress }) => {
      const nearest = await credentials.nearest(api_key)
      const usable = nearest?._id === api_key && nearest.status === 'ACTIVE' ? nearest : null
      if (usable !== null && !isAllowed(usable.ipAllowlist, clientAddress))
        throw new ServiceError('IP_NOT_ALLOWED')
      const matches = secretHash.verify(api_secret, usable?.secretHash ?? decoyHash)
      if (usable === null || !matches) throw new ServiceError('INVALID_CREDENTIALS')
      const operator = await operators.findOne({ _id: usable.operatorId })
      if (operator === null) throw new ServiceError('INVALID_CREDENTIALS')
      if (operator.suspended) throw new ServiceError('OPERATOR_SUSPENDED')
      if (usable.environment === 'LIVE') requireLivePlan(operator)
      const now = clock.now()
      const access_token = await signer.sign({
        audience: 'operator-api',
        subject: api_key,
        operatorId: operator._id,
        mode: usable.environment,
        scopes: usable.scopes,
        expiresAtS: Math.floor(now.getTime() / 1000) + tokenTtlS,
      })
      if (usable.lastUsedAt === null || now.getTime() - usable.lastUsedAt.getTime() > lastUsedStepMs) {
        await credentials.noteUse(api_key, now)
      }
      // A rotation or revocation that ended while the token was made wins.
      if (!(await credentials.isCurrent(api_key, usable.secretHash)))
        throw new ServiceError('INVALID_CREDENTIALS')
      return {
        access_token,
        token_type: 'Bearer' as const,
        expires_in: tokenTtlS,
        operator: { id: operatorHandleOf(operator._id), name: operator.name, mode: usable.environment },
      }
    }),

    handler(mintLaunchToken, async ({ scope, sessionId, expiresAt }) => ({
      token: await signer.sign({
        audience: 'game-launcher',
        subject: sessionId,
        operatorId: scope.operatorId,
        mode: toSetup(scope.environment),
        scopes: [],
        expiresAtS: Math.floor(Date.parse(expiresAt) / 1000),
      }),
    })),

    handler(resolvePrincipal, async (request) => {
      const { operatorId } = request
      const [operator, operatorBrands, switches] = await Promise.all([
        operators.findOne({ _id: operatorId }),
        brands.first(request, brandsMax),
        platform.findOne({ _id: 'platform' }),
      ])
      const account =
        operator === null ? null : toAccount(operator, operatorBrands, switches?.realMoney ?? true)
      const answer = { active: operator !== null, account, credential: null, user: null }
      if (operator === null || request.kind === 'session') return answer
      if (request.kind === 'credential') {
        const found = await credentials.active(request, request.apiKey)
        if (found === null) return { ...answer, active: false }
        const { scopes, ipAllowlist, environment } = found
        return { ...answer, credential: { scopes, ip_allowlist: ipAllowlist, environment } }
      }
      const found = await people.active(request, request.userId)
      if (found === null) return { ...answer, active: false }
      return { ...answer, user: { role: roleOf(found, operator.owners), email: found.email } }
    }),

    handler(listPublicKeys, async () => ({ keys: (await signer.keys()).map((key) => key.publicJwk) })),
    handler(signDocument, async ({ typ, payload }) => ({ jws: await signer.signDocument(typ, payload) })),
  ]
}
