import { randomUUID } from 'node:crypto'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { createReceiverUnderTest } from '@pitboss/contracts/certification/receiver/receiver-under-test'
import type { CaseResult } from '@pitboss/contracts/certification/run-cases'
import { recordExchanges } from '@pitboss/contracts/certification/record-exchanges'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { createExchange } from './exchange.ts'
import { postTo } from './post-to.ts'
import { type CertificationReport, runCases } from './run-cases.ts'

/** Of the body of a success the service reads what comes in this time. */
const SUCCESS_BODY_MS = 1000

/**
 * Runs all receiver cases against a webhook receiver that knows `secret`. The events are examples with
 * made-up ids. Never throws.
 */
export async function certifyReceiver(
  { url, secret }: { url: string; secret: string },
  onResult: (result: CaseResult) => void = () => {},
): Promise<CertificationReport> {
  const exchange = createExchange()
  const recorder = recordExchanges(postTo(exchange, url, SUCCESS_BODY_MS), secret)
  const receiver = createReceiverUnderTest({
    ...{ secret, post: recorder.post, now: () => new Date(), newUuid: randomUUID },
    signing: { signBody, signatureTimestamp },
  })
  try {
    return await runCases({
      ...{ suite: 'pitboss certify-receiver', target: url },
      ...{ cases: receiverCases, context: receiver, recorder, onResult },
    })
  } finally {
    exchange.close()
  }
}
