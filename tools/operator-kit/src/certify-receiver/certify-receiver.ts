import { type CaseResult, type CertificationReport, runCases } from '../certify/run-cases.ts'
import { receiverCases } from './receiver-cases.ts'
import { createReceiverUnderTest } from './receiver-under-test.ts'

/**
 * Runs all receiver cases against a webhook receiver that knows `secret`. The events are examples with
 * made-up ids. Never throws.
 */
export async function certifyReceiver(
  options: { url: string; secret: string },
  onResult: (result: CaseResult) => void = () => {},
): Promise<CertificationReport> {
  const receiver = createReceiverUnderTest(options)
  try {
    return await runCases('pitboss certify-receiver', options.url, receiverCases, receiver, onResult)
  } finally {
    receiver.close()
  }
}
