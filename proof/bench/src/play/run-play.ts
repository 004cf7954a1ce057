import type { Cleanup } from '../harness/cleanup.ts'
import { mintToken, registerWallet } from '../harness/operator.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { runLoad, type Sample } from '../harness/run-load.ts'
import { startServer } from '../harness/start-part.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { waitUntilIdle } from '../harness/wait-until-idle.ts'
import { measureDraws } from './measure-draws.ts'
import { gamesPlayed, seatPlayers } from './players.ts'
import { createHistory } from './seed-history.ts'

const concurrencies = [1, 8, 32]
const historyConcurrency = 8
const historyStep = 10
const historyFrom = 1000
/** A percentile needs more rounds than a rate does. */
const historyShare = 3
const drawMs = 500
const tidyUpMsMax = 300_000

type HistoryPoint = { rounds: number; sample: Sample }

/**
 * Rounds per second of each game, and of dice while the history grows tenfold from 10^3 rounds to
 * `historyMax`.
 */
export async function runPlay(
  { seconds, historyMax }: { seconds: number; historyMax: number },
  cleanup: Cleanup,
  say: (text: string) => void,
) {
  const draws = measureDraws(drawMs)
  const wallet = await startServer('round/wallet-main.ts', {}, cleanup)
  const players = Math.max(...concurrencies)
  const { engines, demo, http } = await createProductWorld({
    name: 'play',
    connections: players,
    cleanup,
    say,
  })
  await registerWallet(http, demo, wallet.url)
  const token = await mintToken(http, demo)
  const durationMs = seconds * 1000

  const rates: { game: string; sample: Sample }[] = []
  for (const game of gamesPlayed) {
    const work = await seatPlayers({ http, token, game, count: players })
    await runLoad({ concurrency: historyConcurrency, durationMs, work })
    for (const concurrency of concurrencies) {
      const sample = await runLoad({ concurrency, durationMs, work })
      say(`${game}, ${concurrency} at once: ${sample.rate.toFixed(0)} rounds/s`)
      rates.push({ game, sample })
    }
  }

  const history = createHistory({ mongodbUrl: engines.mongodbUrl, players: historyConcurrency })
  cleanup.add(() => history.close())
  const play = await seatPlayers({ http, token, game: 'dice', count: historyConcurrency })
  const points: HistoryPoint[] = []
  for (let rounds = historyFrom; rounds <= historyMax; rounds *= historyStep) {
    await history.grow(rounds, say)
    await waitUntilIdle({ busyMax: 0.15, withinMs: tidyUpMsMax }, say)
    await runLoad({ concurrency: historyConcurrency, durationMs, work: play })
    const load = { concurrency: historyConcurrency, durationMs: durationMs * historyShare, work: play }
    const sample = await runLoad(load)
    points.push({ rounds: Number(await history.size()), sample })
    say(`after ${rounds} rounds: p99 ${sample.latencyMs.p99.toFixed(1)} ms`)
  }
  return {
    result: { engines: engines.kinds, draws, rates, history: points },
    text: render(draws, rates, points),
  }
}

function render(
  draws: ReturnType<typeof measureDraws>,
  rates: readonly { game: string; sample: Sample }[],
  history: readonly HistoryPoint[],
): string {
  const head = ['per s', 'p50 ms', 'p95 ms', 'p99 ms', 'failed']
  const cells = ({ rate, latencyMs, failed }: Sample) => [
    rate.toFixed(1),
    ...latencyCells(latencyMs),
    String(failed),
  ]
  const [first] = history
  return [
    renderTable(
      ['draws on one core', 'per s'],
      draws.map(({ what, perSecond }) => [what, perSecond.toFixed(0)]),
    ),
    renderTable(
      ['whole rounds', ...head],
      rates.map(({ game, sample }) => [`${game}, ${sample.concurrency} at once`, ...cells(sample)]),
    ),
    renderTable(
      [`dice, ${historyConcurrency} at once, history`, ...head, 'p99 ratio'],
      history.map(({ rounds, sample }) => {
        const ratio = sample.latencyMs.p99 / (first?.sample.latencyMs.p99 ?? Number.NaN)
        return [`${rounds} rounds`, ...cells(sample), ratio.toFixed(2)]
      }),
    ),
  ].join('\n\n')
}
