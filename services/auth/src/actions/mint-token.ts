import type { mintLaunchToken, mintToken } from '@pitboss/contracts/calls/auth'
import { toAccountMode, operatorHandleOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { isAllowed } from '../rules/address-list.ts'
import { boundSecret } from '../rules/key-pair.ts'
import { requireLivePlan } from '../rules/account-rules.ts'
import type { AuthDeps } from './deps.ts'

const lastUsedStepMs = 60_000

/**
 * Mints tokens for operators' servers and for players' browsers.
 * Source: docs/contract.md, sections 3 and 11.
 */
export function createMintToken({ stores, signer, secretHash, clock, tokenTtlS, random }: AuthDeps) {
  const { credentials, operators } = stores
  // An unknown key is verified against this hash, so that it costs the same time as a wrong secret.
  const decoyHash = secretHash.hash(Buffer.from(random(32)).toString('hex'))

  return {
    /**
     * Exchanges a key pair for a token that lives `tokenTtlS` seconds.
     * @throws ServiceError IP_NOT_ALLOWED, INVALID_CREDENTIALS, OPERATOR_SUSPENDED or FORBIDDEN, in this
     * order
     */
    async forCredential({ api_key, api_secret, clientAddress }: z.infer<typeof mintToken.request>) {
      const nearest = await credentials.nearest(api_key)
      const usable = nearest?._id === api_key && nearest.status === 'ACTIVE' ? nearest : null
      if (usable !== null && !isAllowed(usable.ipAllowlist, clientAddress))
        throw new ServiceError('IP_NOT_ALLOWED')
      const stored = usable?.secretHash ?? decoyHash
      const bound = boundSecret(api_key, api_secret)
      // A hash of an earlier release is not bound to its key.
      const isOurs = (hash: string) => secretHash.verify(bound, hash) || secretHash.verify(api_secret, hash)
      if (!isOurs(stored) || usable === null) throw new ServiceError('INVALID_CREDENTIALS')
      const operator = await operators.find(usable)
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
        await credentials.noteUse(api_key, now, clientAddress)
      }
      const isRenewed = secretHash.isCurrent(stored) && secretHash.verify(bound, stored)
      if (!isRenewed) await credentials.renewSecretHash(api_key, stored, secretHash.hash(bound))
      // A rotation or revocation that was answered while the token was made wins.
      const present = await credentials.activeHash(api_key)
      if (present === null || !isOurs(present)) throw new ServiceError('INVALID_CREDENTIALS')
      return {
        access_token,
        token_type: 'Bearer' as const,
        expires_in: tokenTtlS,
        operator: { id: operatorHandleOf(operator._id), name: operator.name, mode: usable.environment },
      }
    },

    /** Makes the token of a session's player, which lives until `expiresAt`. */
    forSession: ({ scope, sessionId, expiresAt }: z.infer<typeof mintLaunchToken.request>) =>
      signer.sign({
        audience: 'game-launcher',
        subject: sessionId,
        operatorId: scope.operatorId,
        mode: toAccountMode(scope.environment),
        scopes: [],
        expiresAtS: Math.floor(Date.parse(expiresAt) / 1000),
      }),
  }
}
