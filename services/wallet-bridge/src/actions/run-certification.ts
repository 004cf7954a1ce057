import { randomUUID } from 'node:crypto'
import type { Post } from '@pitboss/contracts/certification/exchange'
import { recordExchanges } from '@pitboss/contracts/certification/record-exchanges'
import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import { createWalletUnderTest } from '@pitboss/contracts/certification/wallet/wallet-under-test'
import { type Failure, failureOfCode, lateFailure, tooLong } from '@pitboss/outbound/describe-failure'
import { failpoint } from '@pitboss/runtime/failpoint'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { endCertification, runCertificationJob } from '@pitboss/storage/certification-jobs'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import type { WalletRequest } from '../clients/wallet-client.ts'
import type { WalletContext } from '../context.ts'
import type { WalletExchange } from '../rules/wallet-answers.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'
import type { Wallet } from '../storage/wallet-document.ts'

const changedText = 'The wallet was changed meanwhile. Certify it again.'

/**
 * Runs the cases that are left and stores each result. Its calls touch neither breaker nor figures. Source:
 * docs/contract.md, section 3.
 */
export async function runCertification(
  context: WalletContext,
  held: HeldJob<CertificationDocument>,
): Promise<void> {
  const { certifications, clock } = context
  const { job } = held
  const wallet = await unchangedWallet(context, job)
  if (wallet === null) return endCertification(certifications, job, changedText, clock.now())
  const recorder = recordExchanges(postTo(context, wallet, held), wallet.secret)
  await runCertificationJob({
    ...{ jobs: certifications, held, cases: walletCases, recorder, changedText, clock },
    context: createWalletUnderTest({
      ...{ secret: wallet.secret, playerId: job.playerId, currency: job.currency },
      ...{ blockedPlayerId: job.blockedPlayerId, unknownPlayerId: job.unknownPlayerId },
      ...{ timeoutMs: wallet.timeoutMs, post: recorder.post, signing: { signBody, signatureTimestamp } },
      ...{ now: () => clock.now(), newUuid: randomUUID },
    }),
    isUnchanged: async () => (await unchangedWallet(context, job)) !== null,
    onKept: () => failpoint('wallet-bridge.certified-case'),
  })
}

/** The wallet as it was when the certification was ordered; null when it is another by now. */
async function unchangedWallet(
  { wallets }: WalletContext,
  { operatorId, environment, walletUpdatedAt }: CertificationDocument,
) {
  const document = await wallets.find({ operatorId, environment })
  if (document === null || document.updatedAt.getTime() !== walletUpdatedAt.getTime()) return null
  return wallets.openDocument(document)
}

/** The way to the wallet, open as long as the job is held. */
function postTo({ client }: WalletContext, wallet: Wallet, held: HeldJob<CertificationDocument>): Post {
  return async ({ path, headers, body, timeoutMs }) => {
    if (!held.mayTake(timeoutMs)) throw new Error('the certification goes on elsewhere')
    const { exchange, latencyMs } = await client.call({
      wallet,
      operation: operations[path] ?? 'balance',
      ...{ body, headers, timeoutMs, requestId: headers['x-request-id'] ?? '' },
    })
    return { ...exchangedOf(exchange, timeoutMs), latencyMs }
  }
}

const operations: Readonly<Record<string, WalletRequest['operation']>> = {
  '/balance': 'balance',
  '/debit': 'debit',
  '/credit': 'credit',
  '/rollback': 'rollback',
}

function exchangedOf(exchange: WalletExchange, timeoutMs: number) {
  if (exchange.kind === 'timeout') return failed(lateFailure(timeoutMs, exchange.begunWith ?? null))
  if (exchange.kind === 'no-answer')
    return failed(failureOfCode(exchange.reason) ?? { words: exchange.reason, remedy: '' })
  if (exchange.cutOff) return failed(tooLong)
  const { httpStatus, contentType = '', body, oddities = [] } = exchange
  return { kind: 'answer', httpStatus, contentType, body, oddities } as const
}

function failed({ words: error, remedy }: Failure) {
  return { kind: 'failure', error, remedy } as const
}
