import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import type { ActedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { walletCertifySchema } from '@pitboss/contracts/objects/certification'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import {
  cancelCertification as cancelCertificationJob,
  newCertification,
  orderCertification,
} from '@pitboss/storage/certification-jobs'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { WalletContext } from '../context.ts'
import { toCertificationSummary } from '../records/render-certification.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'

/** @throws ServiceError NOT_FOUND */
export async function findCertification(
  { certifications }: WalletContext,
  scope: Scope,
  id: string,
): Promise<CertificationDocument> {
  const found = await certifications.find(scope, walletKeyOf(scope), id)
  if (found === null) throw new ServiceError('NOT_FOUND')
  return found
}

/**
 * Orders a certification of the account's TEST wallet, whatever scope asks. Source: docs/contract.md, section
 * 3.
 * @param fallback the currency when none is named
 * @throws ServiceError NOT_FOUND without a wallet; CONFLICT while one runs; VALIDATION_ERROR for a currency
 * that does not exist
 */
export async function startCertification(
  { certifications, wallets, audit, clock, newId, wake }: WalletContext,
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
  const object = { type: 'wallet', id: 'TEST' }
  const after = toCertificationSummary(job)
  const entry = audit.entry(by, { act: 'wallet.certify', object, before: null, after })
  await orderCertification(certifications, { ...job, ...auditedInsert(entry) }, 'wallet')
  wake.certifier()
  return job
}

/** Ends one that runs; one that has ended stays as it is. @throws ServiceError NOT_FOUND */
export async function cancelCertification(
  context: WalletContext,
  scope: Scope,
  id: string,
  by: ActedBy,
): Promise<CertificationDocument> {
  const { certifications, audit, clock } = context
  const job = await findCertification(context, scope, id)
  const object = { type: 'certification', id }
  const before = toCertificationSummary(job)
  return cancelCertificationJob(certifications, job, clock.now(), (after) =>
    audit.entry(by, {
      ...{ act: 'certification.cancel', object },
      ...{ before, after: toCertificationSummary(after) },
    }),
  )
}

/** Newest first, without their cases. @throws ServiceError VALIDATION_ERROR for a bad cursor */
export async function listCertifications(
  { certifications, cursors }: WalletContext,
  scope: Scope,
  query: PageQuery,
) {
  return readPage({
    cursors,
    binding: ['certifications', walletKeyOf(scope)],
    query,
    read: (before, limit) => certifications.list(scope, walletKeyOf(scope), { before, limit }, 'cases'),
    positionOf: ({ _id }) => _id,
  })
}
