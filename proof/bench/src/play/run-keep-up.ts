import { setTimeout as delay } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import { z } from 'zod'
import type { Cleanup } from '../harness/cleanup.ts'
import { mintToken, openSession, registerWallet } from '../harness/operator.ts'
import { diskBytes } from '../harness/disk-bytes.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { startServer } from '../harness/start-part.ts'
import { renderTable } from '../harness/table.ts'

const players = 16
const lookEveryMs = 1000
const neverAfter = new Date('9000-01-01T00:00:00.000Z')
const refusal = z.object({ code: z.string() })

type Look = { readonly atS: number; readonly due: number; readonly oldestMs: number }

/**
 * Sixteen players play dice without a pause, but for a second after each refusal as `Retry-After` says, while
 * the deliveries that are due are looked at each second.
 */
export async function runKeepUp(seconds: number, cleanup: Cleanup, say: (text: string) => void) {
  const wallet = await startServer('round/wallet-main.ts', {}, cleanup)
  const { engines, demo, http } = await createProductWorld({
    ...{ name: 'keep-up', connections: players, cleanup, say },
  })
  await registerWallet(http, demo, wallet.url)
  const token = await mintToken(http, demo)
  const client = await new MongoClient(engines.mongodbUrl).connect()
  cleanup.add(() => client.close())
  const deliveries = client.db('pitboss_webhooks').collection('deliveries')

  const bytesBefore = await diskBytes(engines.dataDir)
  const startedAt = performance.now()
  const endAt = startedAt + seconds * 1000
  const answers = { played: 0, refused: 0, other: 0 }

  async function play(player: number): Promise<void> {
    const seat = { player_id: `keeps-${player}`, game: 'dice', currency: 'USD' }
    const { launchToken } = await openSession(http, token, seat)
    const body = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
    while (performance.now() < endAt) {
      const { status, text } = await http.send('POST', '/v1/game/rounds', { token: launchToken, body })
      if (status === 201) answers.played += 1
      else if (refusal.safeParse(JSON.parse(text)).data?.code === 'SERVICE_UNAVAILABLE') {
        answers.refused += 1
        await delay(1000)
      } else answers.other += 1
    }
  }

  async function watch(): Promise<Look[]> {
    const looks: Look[] = []
    while (performance.now() < endAt) {
      const now = new Date()
      const due = { status: 'PENDING', dueAt: { $lte: now, $lt: neverAfter } }
      const [count, first] = await Promise.all([
        deliveries.countDocuments(due),
        deliveries.findOne(due, { sort: { dueAt: 1 }, projection: { dueAt: 1 } }),
      ])
      const oldestMs = first === null ? 0 : now.getTime() - first.dueAt.getTime()
      const atS = Math.round((performance.now() - startedAt) / 1000)
      looks.push({ atS, due: count, oldestMs })
      if (looks.length % 30 === 0)
        say(`${atS} s: ${answers.played} rounds, ${count} due, oldest ${oldestMs} ms`)
      await delay(lookEveryMs)
    }
    return looks
  }

  const [looks] = await Promise.all([
    watch(),
    ...Array.from({ length: players }, (_, player) => play(player)),
  ])
  const oldest = looks.map(({ oldestMs }) => oldestMs).toSorted((a, b) => a - b)
  const worst = oldest.at(-1) ?? 0
  const median = oldest[oldest.length >> 1] ?? 0
  const rate = answers.played / seconds
  const bytesPerRound = Math.round(((await diskBytes(engines.dataDir)) - bytesBefore) / answers.played)
  return {
    result: {
      engines: engines.kinds,
      players,
      seconds,
      rate,
      bytesPerRound,
      answers,
      medianMs: median,
      worstMs: worst,
      looks,
    },
    text: renderTable(
      [
        'players',
        'rounds per s',
        'refused',
        'failed',
        'oldest due: p50 ms',
        'most ms',
        'most due',
        'KB per round',
      ],
      [
        [
          ...[String(players), rate.toFixed(1), String(answers.refused), String(answers.other)],
          ...[String(median), String(worst), String(Math.max(0, ...looks.map(({ due }) => due)))],
          (bytesPerRound / 1024).toFixed(1),
        ],
      ],
    ),
  }
}
