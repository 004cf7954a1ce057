import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import type { ActedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { walletCertifySchema } from '@pitboss/contracts/objects/certification'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'
import { newCertification } from '@pitboss/storage/certification-jobs'
import type { z } from 'zod'
import { walletKeyOf } from '../../../rules/movement-keys.ts'
import type { CertificationContext } from '../context.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'

/**
 * Orders a certification of the account's TEST wallet, whatever scope asks. Source: docs/contract.md, section
 * 3.
 * @param fallback the currency when none is named
 * @throws ServiceError NOT_FOUND without a wallet; CONFLICT while one runs; VALIDATION_ERROR for a currency
 * that does not exist
 */
export async function startCertification(
  { certifications, wallets, clock, newId }: CertificationContext,
  { operatorId }: Scope,
  asked: z.output<typeof walletCertifySchema>,
  fallback: string,
  by: ActedBy,
): Promise<CertificationDocument> {
  const scope: Scope = { operatorId, environment: 'SANDBOX' }
  const currency = asked.currency ?? fallback
  if (currencyDigits(currency) === null) throw invalidField('currency', 'must be a currency that exists')
  const wallet = await wallets.find(scope)
  if (wallet === null) throw new ServiceError('NOT_FOUND')
  const job: CertificationDocument = {
    ...newCertification({
      ...{ id: newId('crt'), scope, subject: walletKeyOf(scope) },
      ...{ url: wallet.url, casesTotal: walletCases.length, now: clock.now() },
    }),
    walletUpdatedAt: wallet.updatedAt,
    playerId: asked.player_id,
    currency,
    blockedPlayerId: asked.blocked_player_id ?? null,
    unknownPlayerId: asked.unknown_player_id ?? null,
  }
  return certifications.order(job, by, { act: 'wallet.certify', object: { type: 'wallet', id: 'TEST' } })
}
