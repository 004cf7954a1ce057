import type { FastifyInstance } from 'fastify'
import { createRawApp } from '../shared/raw-app.ts'
import { createAnswerCall } from './answer-call.ts'
import { createCallLog } from './call-log.ts'
import { addControlRoutes } from './control-routes.ts'
import { createFaultPlan } from './faults.ts'
import { openWallet } from './open-wallet.ts'
import { walletPage } from './wallet-page.ts'

export type WalletAppOptions = {
  dataDir: string
  secret: string
  /** Decimal string, cut to the currency's decimals. */
  startingBalance: string
  /** Seed of the faults by probability. */
  seed: number
  /** Called when a new secret is set over HTTP, before it counts. */
  storeSecret?: (secret: string) => Promise<void>
  now?: () => Date
}

/** The sandbox wallet as an app that is not listening yet; closing the app closes its ledger. */
export async function createWalletApp(options: WalletAppOptions): Promise<FastifyInstance> {
  const { dataDir, startingBalance, seed, storeSecret, now = () => new Date() } = options
  let { secret } = options
  const wallet = await openWallet({ dataDir, startingBalance, now })
  const faults = createFaultPlan(seed)
  const calls = createCallLog()
  const app = createRawApp()
  app.addHook('onClose', () => wallet.close())
  const answerCall = createAnswerCall({ wallet, faults, calls, secret: () => secret, now })
  for (const operation of ['balance', 'debit', 'credit', 'rollback'] as const) {
    app.post(`/${operation}`, (request, reply) => answerCall(operation, request, reply))
  }
  addControlRoutes(app, {
    wallet,
    faults,
    calls,
    async setSecret(next) {
      await storeSecret?.(next)
      secret = next
    },
  })
  app.get('/sandbox', async (_request, reply) => reply.type('text/html; charset=utf-8').send(walletPage))
  return app
}
