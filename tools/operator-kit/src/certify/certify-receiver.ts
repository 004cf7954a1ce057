import { randomUUID } from 'node:crypto'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { createReceiverUnderTest } from '@pitboss/contracts/certification/receiver/receiver-under-test'
import type { CaseResult } from '@pitboss/contracts/certification/run-cases'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { createExchange } from './exchange.ts'
import { postTo } from './post-to.ts'
import { type CertificationReport, runCases } from './run-cases.ts'

/**
 * Runs all receiver cases against a webhook receiver that knows `secret`. The events are examples with
 * made-up ids. Never throws.
 */
export async function certifyReceiver(
  { url, secret }: { url: string; secret: string },
  onResult: (result: CaseResult) => void = () => {},
): Promise<CertificationReport> {
  const exchange = createExchange()
  const receiver = createReceiverUnderTest({
    ...{ secret, post: postTo(exchange, url), now: () => new Date(), newUuid: randomUUID },
    signing: { signBody, signatureTimestamp },
  })
  try {
    return await runCases('pitboss certify-receiver', url, receiverCases, receiver, onResult)
  } finally {
    exchange.close()
  }
}
