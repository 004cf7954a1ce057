import { answer, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { type Caller, type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { ExchangeRequest } from '@pitboss/contracts/certification/exchange'
import { summaryOf } from '@pitboss/contracts/certification/progress'
import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import { createWalletUnderTest } from '@pitboss/contracts/certification/wallet/wallet-under-test'
import * as endpoints from '@pitboss/contracts/endpoints/wallet'
import type { walletCertifySchema } from '@pitboss/contracts/objects/certification'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'
import { type Failure, failureOfCode, lateFailure, tooLong } from '@pitboss/outbound/describe-failure'
import { failpoint } from '@pitboss/runtime/failpoint'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import * as certificationJobs from '@pitboss/storage/certification-jobs'
import { jobIndexes } from '@pitboss/storage/job-store'
import type { Jobs } from '@pitboss/storage/jobs'
import { answerPage } from '@pitboss/storage/read-page'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import type { z } from 'zod'
import { findWallet } from '../../actions/operator-wallets.ts'
import type { WalletRequest } from '../../clients/wallet-client.ts'
import type { WalletContext } from '../../context.ts'
import type { WalletExchange } from '../../rules/wallet-answers.ts'
import type { Wallet } from '../../storage/wallet-document.ts'
import type { Wing } from '../../wing.ts'

/** Each takes some calls at a time from a wallet; more orders wait their turn. */
const placesMax = 8
const notLiveText =
  'There is no certification of a LIVE wallet, for it moves money of a test player. Certify the TEST wallet.'

/** Certifications of TEST wallets. Source: docs/contract.md, section 3. */
export const certifications: Wing = {
  indexes: { certifications: jobIndexes },
  audited: ['certifications'],
  open(core, { db, clockAheadMs }) {
    const jobs = certificationJobs.openCertifications<CertificationDocument>(db, {
      ...{ ...core, of: ' of this wallet', summary: toCertificationSummary, placesMax, clockAheadMs },
    })
    const context = { ...core, certifications: jobs }
    return {
      calls: [
        handler(endpoints.certifyWallet.call, async ({ caller, params, body }, call) => {
          if (params.environment === 'LIVE') throw new ServiceError('NOT_FOUND', { message: notLiveText })
          return answer(toCertification(await startCertification(context, caller, body, call)), 202)
        }),
        handler(endpoints.listWalletCertifications.call, async ({ caller: { scope }, query }) =>
          answerPage(await jobs.list(scope, scopeKey(scope), query), toCertificationSummary),
        ),
        handler(endpoints.getWalletCertification.call, async ({ caller, params }) =>
          answer(toCertification(await jobs.find([caller.scope], params.certification_id))),
        ),
        handler(endpoints.cancelWalletCertification.call, async ({ caller, params }, call) => {
          const job = await jobs.find([caller.scope], params.certification_id)
          return answer(toCertification(await jobs.cancel(job, actedBy(caller, call))))
        }),
      ],
      start: () => jobs.start((held) => runCertification(context, held)),
    }
  },
}

/** The public record of a certification without its cases. Source: docs/contract.md, section 3. */
function toCertificationSummary(document: Omit<CertificationDocument, 'cases'>) {
  const { playerId: player_id, currency, blockedPlayerId, unknownPlayerId } = document
  const others = { blocked_player_id: blockedPlayerId, unknown_player_id: unknownPlayerId }
  return { ...summaryOf(document), player_id, currency, ...others }
}

function toCertification(document: CertificationDocument) {
  return { ...toCertificationSummary(document), cases: [...document.cases] }
}

/** A certification of a TEST wallet; `subject` is the wallet's key. */
export type CertificationDocument = certificationJobs.CertificationJob & {
  /** When the wallet had been changed: another one by now is not the wallet that was asked about. */
  readonly walletUpdatedAt: Date
  readonly playerId: string
  readonly currency: string
  readonly blockedPlayerId: string | null
  readonly unknownPlayerId: string | null
}

type CertificationContext = WalletContext & {
  readonly certifications: Jobs<CertificationDocument, 'cases'>
}

const changedText = 'The wallet was changed meanwhile. Certify it again.'

/** Runs the cases that are left, outside breakers and figures. Source: docs/contract.md, section 3. */
function runCertification(context: CertificationContext, held: HeldJob<CertificationDocument>) {
  const { certifications, clock } = context
  const { playerId, currency, blockedPlayerId, unknownPlayerId } = held.job
  return certificationJobs.runCertificationJob({
    ...{ jobs: certifications.store, held, cases: walletCases, changedText, clock },
    find: () => unchangedWallet(context, held.job),
    send: (wallet, request) => send(context, wallet, request),
    peerOf: ({ secret, timeoutMs }, edges) =>
      createWalletUnderTest({
        ...{ secret, timeoutMs, playerId, currency, blockedPlayerId, unknownPlayerId },
        ...{ ...edges, signing: { signBody, signatureTimestamp } },
      }),
    onKept: () => failpoint('wallet-bridge.certified-case'),
  })
}

/** The wallet as it was when the certification was ordered; null when it is another by now. */
async function unchangedWallet({ wallets }: CertificationContext, job: CertificationDocument) {
  const document = await wallets.find(job)
  if (document === null || document.updatedAt.getTime() !== job.walletUpdatedAt.getTime()) return null
  return wallets.openDocument(document)
}

async function send({ client }: CertificationContext, wallet: Wallet, request: ExchangeRequest) {
  const { path, ...sent } = request
  const operation = operations.find((name) => path === `/${name}`) ?? 'balance'
  const requestId = sent.headers['x-request-id'] ?? ''
  const { exchange, latencyMs } = await client.call({ wallet, operation, requestId, ...sent })
  return { ...exchangedOf(exchange, sent.timeoutMs), latencyMs }
}

const operations: readonly WalletRequest['operation'][] = ['debit', 'credit', 'rollback']

function exchangedOf(exchange: WalletExchange, timeoutMs: number) {
  if (exchange.kind === 'timeout') return failed(lateFailure(timeoutMs, exchange.begunWith ?? null))
  if (exchange.kind === 'no-answer')
    return failed(failureOfCode(exchange.reason) ?? { words: exchange.reason, remedy: '' })
  if (exchange.cutOff) return failed(tooLong)
  const { httpStatus, contentType = '', body, oddities = [] } = exchange
  return { kind: 'answer', httpStatus, contentType, body, oddities } as const
}

const failed = ({ words: error, remedy }: Failure) => ({ kind: 'failure', error, remedy }) as const

/**
 * Orders a certification of the account's TEST wallet in any scope. Source: docs/contract.md, section 3.
 * @throws ServiceError NOT_FOUND; CONFLICT while one runs; VALIDATION_ERROR for a currency that is none
 */
async function startCertification(
  context: CertificationContext,
  caller: Caller,
  asked: z.output<typeof walletCertifySchema>,
  call: HandlerContext,
): Promise<CertificationDocument> {
  const { certifications, clock, newId } = context
  const scope: Scope = { ...caller.scope, environment: 'SANDBOX' }
  const currency = asked.currency ?? caller.account.currencies[0] ?? 'USD'
  if (currencyDigits(currency) === null) throw invalidField('currency', 'must be a currency that exists')
  const wallet = await findWallet(context, scope)
  const job: CertificationDocument = {
    ...certificationJobs.newCertification({
      ...{ id: newId('crt'), scope, subject: scopeKey(scope) },
      ...{ url: wallet.url, casesTotal: walletCases.length, now: clock.now() },
    }),
    walletUpdatedAt: wallet.updatedAt,
    playerId: asked.player_id,
    currency,
    blockedPlayerId: asked.blocked_player_id ?? null,
    unknownPlayerId: asked.unknown_player_id ?? null,
  }
  const act = { act: 'wallet.certify', object: { type: 'wallet', id: 'TEST' } }
  return certifications.order(job, actedBy(caller, call), act)
}
