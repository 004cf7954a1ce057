import { z } from 'zod'
import { acknowledgedChangeMs } from '../call.ts'
import { defineEndpoint, forDashboard, builders, everybody } from '../endpoint.ts'
import {
  walletCertificationSchema,
  walletCertificationSummarySchema,
  walletCertifySchema,
} from '../objects/certification.ts'
import { movementAttemptSchema, movementSchema, movementStatus, movementType } from '../objects/movement.ts'
import { seriesQuery, walletSeriesSchema } from '../objects/series.ts'
import { walletCheckSchema, walletPutSchema, walletRotateSchema, walletSchema } from '../objects/wallet.ts'
import { pageOf, pageQuery, playerId, accountMode, windowQuery } from '../primitives.ts'

/** Routes that wallet-bridge answers. Source: docs/contract.md, sections 3, 5 and 11. */

const transactionParam = z.strictObject({ transaction_id: z.string().max(128) })
const walletParam = z.strictObject({ environment: accountMode })

/** A certification moves money of a test player, so there is none of a LIVE wallet. */
const testWallet = { environment: z.literal('TEST') }
const oneCertification = {
  params: z.strictObject({ ...testWallet, certification_id: z.string().max(64) }),
}

const filters = {
  player_id: playerId.optional(),
  round_id: z.string().max(64).optional(),
  session_id: z.string().max(64).optional(),
  type: movementType.optional(),
  status: movementStatus.optional(),
  ...windowQuery,
  ...pageQuery,
}
const movementsPage = pageOf(movementSchema)
const attemptsPage = pageOf(movementAttemptSchema)

export const listTransactions = defineEndpoint('GET /v1/transactions', {
  access: { 'operator-api': 'transactions:read' },
  subject: 'wallet.v1.transaction.list',
  query: z.strictObject(filters),
  reply: movementsPage,
})
export const getTransaction = defineEndpoint('GET /v1/transactions/{transaction_id}', {
  access: { 'operator-api': 'transactions:read' },
  subject: 'wallet.v1.transaction.show',
  params: transactionParam,
  reply: movementSchema,
})
export const getTransactionAttempts = defineEndpoint('GET /v1/transactions/{transaction_id}/attempts', {
  access: { 'operator-api': 'transactions:read' },
  subject: 'wallet.v1.transaction.attempts',
  params: transactionParam,
  query: z.strictObject(pageQuery),
  reply: attemptsPage,
})
export const dashboardListTransactions = forDashboard(listTransactions, everybody)
export const dashboardGetTransaction = forDashboard(getTransaction, everybody)
export const dashboardGetTransactionAttempts = forDashboard(getTransactionAttempts, everybody)

export const getWallet = defineEndpoint('GET /v1/dashboard/wallets/{environment}', {
  access: builders,
  subject: 'wallet.v1.wallet.show',
  params: walletParam,
  reply: walletSchema,
})
export const putWallet = defineEndpoint('PUT /v1/dashboard/wallets/{environment}', {
  access: builders,
  subject: 'wallet.v1.wallet.put',
  params: walletParam,
  body: walletPutSchema,
  reply: walletSchema,
  budgetMs: acknowledgedChangeMs,
})
export const rotateWalletSecret = defineEndpoint('POST /v1/dashboard/wallets/{environment}/rotate-secret', {
  access: builders,
  subject: 'wallet.v1.wallet.rotate-secret',
  params: walletParam,
  body: walletRotateSchema,
  reply: walletSchema,
  budgetMs: acknowledgedChangeMs,
})
export const checkWallet = defineEndpoint('POST /v1/dashboard/wallets/{environment}/check', {
  access: builders,
  subject: 'wallet.v1.wallet.check',
  params: walletParam,
  reply: walletCheckSchema,
  budgetMs: 60_000,
})
export const getWalletSeries = defineEndpoint('GET /v1/dashboard/wallets/{environment}/series', {
  access: builders,
  subject: 'wallet.v1.wallet.series',
  params: walletParam,
  query: z.strictObject(seriesQuery),
  reply: walletSeriesSchema,
})
export const certifyWallet = defineEndpoint('POST /v1/dashboard/wallets/{environment}/certify', {
  access: builders,
  subject: 'wallet.v1.certification.start',
  // LIVE is taken to be refused with the reason.
  params: walletParam,
  body: walletCertifySchema,
  reply: walletCertificationSchema,
})
export const listWalletCertifications = defineEndpoint(
  'GET /v1/dashboard/wallets/{environment}/certifications',
  {
    access: builders,
    subject: 'wallet.v1.certification.list',
    params: z.strictObject(testWallet),
    query: z.strictObject(pageQuery),
    reply: pageOf(walletCertificationSummarySchema),
  },
)
export const getWalletCertification = defineEndpoint(
  'GET /v1/dashboard/wallets/{environment}/certifications/{certification_id}',
  {
    access: builders,
    subject: 'wallet.v1.certification.show',
    ...oneCertification,
    reply: walletCertificationSchema,
  },
)
export const cancelWalletCertification = defineEndpoint(
  'POST /v1/dashboard/wallets/{environment}/certifications/{certification_id}/cancel',
  {
    access: builders,
    subject: 'wallet.v1.certification.cancel',
    ...oneCertification,
    reply: walletCertificationSchema,
  },
)
