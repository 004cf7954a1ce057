import { randomUUID } from 'node:crypto'
import type { CertificationEdges } from '@pitboss/contracts/certification/exchange'
import type { CaseResult } from '@pitboss/contracts/certification/run-cases'
import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import {
  createWalletUnderTest,
  type WalletUnderTestOptions,
} from '@pitboss/contracts/certification/wallet/wallet-under-test'
import { recordExchanges } from '@pitboss/contracts/certification/record-exchanges'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { createExchange } from './exchange.ts'
import { postTo } from './post-to.ts'
import { type CertificationReport, runCases } from './run-cases.ts'

/**
 * Runs all wallet cases against a wallet with a test player who owns at least 100 whole units. The player's
 * balance changes by small amounts. Never throws.
 */
export async function certifyWallet(
  { url, ...options }: Omit<WalletUnderTestOptions, keyof CertificationEdges> & { url: string },
  onResult: (result: CaseResult) => void = () => {},
): Promise<CertificationReport> {
  const exchange = createExchange()
  const recorder = recordExchanges(postTo(exchange, url.replace(/\/$/, '')), options.secret)
  const wallet = createWalletUnderTest({
    ...options,
    post: recorder.post,
    signing: { signBody, signatureTimestamp },
    now: () => new Date(),
    newUuid: randomUUID,
  })
  try {
    return await runCases({
      ...{ suite: 'pitboss certify-wallet', target: url },
      ...{ cases: walletCases, context: wallet, recorder, onResult },
    })
  } finally {
    exchange.close()
  }
}
