import { z } from 'zod'
import { page } from './demo-answers.ts'
import { expectAnswer } from './demo-http.ts'
import type { DemoLog } from './demo-log.ts'

const walletCall = z.looseObject({
  seq: z.number(),
  operation: z.string(),
  status: z.string().nullable(),
  body: z.string(),
  fault: z.string().nullable(),
})
const movementBody = z.looseObject({ amount: z.string(), currency: z.string(), transactionId: z.string() })

export type WalletView = {
  /** Shows the wallet calls since the last look that concern `needle`. */
  show(needle: string): Promise<void>
  /** Leaves out the calls so far. */
  skip(): Promise<void>
}

/** Calls of the sandbox wallet, from its own log. */
export async function createWalletView(walletUrl: string, log: DemoLog): Promise<WalletView> {
  const calls = async (query: string) =>
    (await expectAnswer(200, page(walletCall), 'GET', `${walletUrl}/sandbox/calls?${query}`)).data
  const latest = async () => (await calls('latest=true&limit=1'))[0]?.seq ?? 0
  let seen = await latest()
  return {
    async skip() {
      seen = await latest()
    },
    async show(needle) {
      for (const call of await calls(`after=${seen}&limit=1000`)) {
        seen = Math.max(seen, call.seq)
        if (call.operation === 'balance' || !call.body.includes(needle)) continue
        const { amount, currency, transactionId } = movementBody.parse(JSON.parse(call.body))
        log.detail(
          'wallet',
          `${call.operation} ${amount} ${currency}  ${transactionId} → ${call.status ?? `no answer (${call.fault ?? 'dropped'})`}`,
          { operation: call.operation, amount, currency, status: call.status },
        )
      }
    },
  }
}
