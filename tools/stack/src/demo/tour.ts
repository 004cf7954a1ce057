import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import {
  type Round,
  roundAnswer,
  type Session,
  sessionAnswer,
  DemoError,
  eventually,
  expectAnswer,
} from './answers.ts'
import type { DemoFile } from '../demo-file.ts'
import type { DemoLog } from './demo-log.ts'
import { createReceiverView, type ReceiverView, createWalletView, type WalletView } from './views.ts'

const verifyAnswer = z.looseObject({
  valid: z.boolean(),
  checks: z.array(z.looseObject({ name: z.string(), ok: z.boolean() })),
})

/** The parts that every chapter works with. */
export type Tour = {
  demo: DemoFile
  dataDir: string
  log: DemoLog
  /** `<base url>/v1`. */
  api: string
  /** Sets the players and names of this tour apart from those of others. */
  run: string
  /** Begin of the tour, ISO 8601. */
  startedAt: string
  /** Token of the operator's server. */
  token: string
  /** Token of the owner in the dashboard, once signed in. */
  person: string | null
  wallet: WalletView
  receiver: ReceiverView
  /** An action to undo at the end in any case. */
  atEnd(undo: () => Promise<unknown>): void
  open(game: string, playerId: string): Promise<{ session: Session; playerToken: string }>
  play(playerToken: string, body: object): Promise<Round>
  /** The round once it is settled. */
  settled(playerToken: string, round: Round): Promise<Round>
  /** Shows a settled round with its wallet calls, its webhook and its verification. */
  tell(round: Round): Promise<void>
}
export type Chapter = (tour: Tour) => Promise<void>

/** The tour before its first chapter; the first one puts the token in. */
export async function createTour(
  demo: DemoFile,
  dataDir: string,
  log: DemoLog,
): Promise<{ tour: Tour; undo: (() => Promise<unknown>)[] }> {
  const api = `${demo.base_url}/v1`
  const wallet = await createWalletView(demo.wallet.url, log)
  const receiver = createReceiverView(demo.receiver.url, log)
  const undo: (() => Promise<unknown>)[] = []

  const tour: Tour = {
    demo,
    dataDir,
    log,
    api,
    run: randomBytes(3).toString('hex'),
    startedAt: new Date().toISOString(),
    token: '',
    person: null,
    wallet,
    receiver,
    atEnd: (step) => void undo.push(step),
    async open(game, player_id) {
      const session = await expectAnswer(201, sessionAnswer, 'POST', `${api}/sessions`, {
        token: tour.token,
        body: { player_id, game, currency: 'USD' },
      })
      return { session, playerToken: new URL(session.launch_url).hash.replace('#token=', '') }
    },
    play: (playerToken, body) =>
      expectAnswer(201, roundAnswer, 'POST', `${api}/game/rounds`, { token: playerToken, body }),
    settled: (playerToken, round) =>
      eventually(`the end of ${round.round_id}`, async () => {
        const now = await expectAnswer(200, roundAnswer, 'GET', `${api}/game/rounds/${round.round_id}`, {
          token: playerToken,
        })
        return now.status === 'SETTLED' ? now : null
      }),
    async tell(round) {
      log.happened(
        `round ${round.round_id} ${round.status}: stake ${round.stake}, multiplier ${round.multiplier ?? '-'}, payout ${round.payout ?? '-'} ${round.currency}`,
        { round },
      )
      await wallet.show(round.wallet_round_id)
      await receiver.show('round.completed', round.round_id)
      const { valid, checks } = await expectAnswer(200, verifyAnswer, 'POST', `${api}/public/verify`, {
        body: round,
      })
      if (!valid) throw new DemoError(`round ${round.round_id} does not verify: ${JSON.stringify(checks)}`)
      log.detail(
        'verify',
        `nonce ${round.fairness.nonce}: ${checks.length} of ${checks.length} checks hold`,
        { round_id: round.round_id },
      )
    },
  }
  return { tour, undo }
}
