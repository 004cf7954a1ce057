import { setTimeout as delay } from 'node:timers/promises'
import type { DemoFile } from '@pitboss/stack/demo-file'
import type { Cleanup } from '../harness/cleanup.ts'
import { mintToken } from '../harness/operator.ts'
import type { Measured } from '../harness/measured.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { renderTable } from '../harness/table.ts'
import { until } from '../harness/until.ts'
import { goOn, openBoards } from './open-boards.ts'
import { seatAtPlay } from './seat-at-play.ts'

const services = ['rounds', 'wallet-bridge', 'gateway', 'auth', 'webhooks'] as const
type Service = (typeof services)[number]
/** Goals in milliseconds: a new process is ready. */
const readyGoalMs: Readonly<Record<Service, number>> = {
  ...{ rounds: 3000, 'wallet-bridge': 2000, gateway: 2000, auth: 2000, webhooks: 2000 },
}
/** A player's unfinished round of before the kill has ended, and he plays the next one. */
const allPlayGoalMs = 7000
const players = 40
/** Boards of each kill whose players go on. */
const boardsPerKill = 10
const recoversWithinMs = 60_000
/** Between two kills: what one has left behind does not count for the next. */
const calmMs = 10_000

type Seen = {
  readonly service: Service
  readonly readyMs: number
  readonly firstMs: number
  readonly allMs: number
  readonly boardsMs: number
}

/**
 * Kills each service with SIGKILL, `turns` times, while 40 players play without a pause and `unfinished`
 * further rounds are open, and measures when its new process is ready, the first player is answered a new
 * round, all are, those included whose round the kill left unfinished, and open boards go on. The runner
 * starts the process anew.
 */
export async function runRecovery(
  { turns, unfinished }: { turns: number; unfinished: number },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const kills = turns * services.length
  const { engines, product, demo, http } = await createProductWorld({
    ...{ name: 'recovery', connections: 2 * players + boardsPerKill, cleanup, say },
  })
  const token = await mintToken(http, demo)
  const boards = await openBoards(http, token, Math.max(unfinished, kills * boardsPerKill), say)
  const atPlay = await seatAtPlay(http, token, players)
  await atPlay.allPlayed()
  const seen: Seen[] = []
  for (let turn = 0; turn < turns; turn++) {
    for (const service of services) {
      const pid = pidOf(product.demo(), service)
      process.kill(pid, 'SIGKILL')
      const killedAtMs = performance.now()
      const [{ firstMs, lastMs }, boardsMs, readyMs] = await Promise.all([
        atPlay.allPlayed(),
        goOn(http, boards.splice(0, boardsPerKill)),
        untilReady(product.demo, service, pid).then(() => performance.now() - killedAtMs),
      ])
      seen.push({ service, readyMs, firstMs, allMs: lastMs, boardsMs })
      say(`${service}: ready ${readyMs.toFixed(0)}, first ${firstMs.toFixed(0)}, all ${lastMs.toFixed(0)} ms`)
      await delay(calmMs)
    }
  }
  await atPlay.stop()
  return { result: { engines: engines.kinds, unfinished, seen }, text: render(seen) }
}

function render(seen: readonly Seen[]): string {
  const rows = services.map((service) => {
    const own = seen.filter((one) => one.service === service)
    const cell = (pick: (one: Seen) => number) => {
      const sorted = own.map(pick).toSorted((a, b) => a - b)
      return `${(sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(0)} (${(sorted.at(-1) ?? 0).toFixed(0)})`
    }
    return [
      ...[service, cell(({ readyMs }) => readyMs), String(readyGoalMs[service])],
      ...[cell(({ firstMs }) => firstMs), cell(({ allMs }) => allMs), String(allPlayGoalMs)],
      cell(({ boardsMs }) => boardsMs),
    ]
  })
  const head = ['median (most), ms', 'ready', 'goal', 'one plays', 'all play', 'goal', 'boards go on']
  return renderTable(head, rows)
}

function untilReady(demo: () => DemoFile, service: Service, killed: number): Promise<void> {
  return until(
    `${service} to be ready again`,
    async () => {
      const found = demo().processes.find(({ name }) => name === service)
      if (found === undefined || found.pid === null || found.pid === killed) return false
      return fetch(`${found.http_url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    },
    { withinMs: recoversWithinMs },
  )
}

function pidOf({ processes }: DemoFile, service: Service): number {
  const pid = processes.find(({ name }) => name === service)?.pid
  if (typeof pid !== 'number') throw new Error(`${service} does not run`)
  return pid
}
